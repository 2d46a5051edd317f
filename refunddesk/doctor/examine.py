"""Goes through everything; a part that fails or hangs becomes a line like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from django.db import connections

from refunddesk.doctor.answers import ANSWER_SECONDS, database, photos, running_parts, web
from refunddesk.doctor.charges import charges
from refunddesk.doctor.configured import configured
from refunddesk.doctor.demo_accounts import demo_accounts
from refunddesk.doctor.finding import Finding
from refunddesk.doctor.models import models
from refunddesk.probe import Probe

QUESTIONS: dict[str, Callable[[], Iterable[Finding]]] = {
    "settings": configured,
    "database": database,
    "models": models,
    "charges": charges,
    "accounts": demo_accounts,
    "photos": photos,
    "broker": running_parts,
    "web": web,
}


def examine() -> Iterator[Finding]:
    for about, question in QUESTIONS.items():
        yield from _answered(about, question)


def _answered(about: str, question: Callable[[], Iterable[Finding]]) -> list[Finding]:
    def ask() -> list[Finding]:
        try:
            return list(question())
        finally:
            connections.close_all()

    try:
        return Probe(about, ask).start().result(timeout=ANSWER_SECONDS)
    except TimeoutError:
        return [Finding("missing", about, f"did not answer within {ANSWER_SECONDS:.0f} seconds")]
    except Exception as error:  # the doctor tells of any trouble and goes on
        return [Finding("missing", about, f"{type(error).__name__}: {str(error).strip() or 'no reason given'}")]
