"""How a book is falsified behind the code, and what the check then says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection

from agent.chain import link_hash
from agent.models import ChainRecord
from agent.verify.one_request import first_misfit
from agent.verify.pages import read_pages
from intake.models import RefundRequest
from tests.behind_the_book import behind_the_book

LONG_AGO = "2020-01-01 00:00:00+00:00"


def named(request: RefundRequest) -> str:
    return first_misfit(read_pages([request.pk])[0])


def sql(statement: str, *values: Any) -> None:
    """Straight into the table, past every guard of the code."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount == 1


def rewritten(link: ChainRecord, change: Callable[[dict[str, Any]], None]) -> None:
    """The whole chain from `link` on written anew, with right hashes: what somebody with the code at hand can do."""
    change(link.facts)
    previous = link.previous_hash
    for each in [link, *link.request.chain.filter(sequence__gt=link.sequence).order_by("sequence")]:
        changed = link_hash(each.sequence, each.kind, each.subject, each.facts, previous)
        behind_the_book(ChainRecord).filter(pk=each.pk).update(facts=each.facts, hash=changed, previous_hash=previous)
        previous = changed
