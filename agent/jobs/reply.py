"""The customer answered: the agent reviews again, and a person decides."""

from __future__ import annotations

from agent.jobs.review import review_and_end
from agent.lease import Lease
from agent.models import Run


def review_reply(lease: Lease, run: Run) -> None:
    review_and_end(lease, run, may_refund=False)
