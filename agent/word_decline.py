"""Words a staff member's decline for the customer: the model when it does well, else a template."""

from __future__ import annotations

import re
import time

from django.conf import settings

from agent.customer_words import has_markup
from agent.lease import Lease
from agent.llm.ask import Call, ask
from agent.llm.base import Message, ModelTrouble, Reply, Usage
from agent.llm.choose import reviewing_model
from agent.llm.spending import spent_before
from agent.models import Run
from agent.promises import declines, own_promises
from agent.prompts import PROMPT_VERSION
from agent.prompts.decline import DECLINE
from agent.prompts.fence import one_line, visible
from agent.prompts.one_sentence import SENTENCE_END, one_sentence
from agent.staff_names import Person, names_one_of, staff_names, without_names
from intake.models import RefundRequest
from intake.timeline import shorten

MAX_SENTENCES = 3
MAX_LENGTH = 700
NOTE_LENGTH = 400
OUR_WORDS = re.compile(r"\b(?:tool|rule|score|system|agent|model|software|automatic|approval|staff)s?\b", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
# Characters that turn the direction of what stands behind them.
TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def word_decline(lease: Lease, *, request_id: int, note: str) -> str:
    """What the customer reads: at most three sentences that decline, without names of staff, markup, or a number, a
    promise or an address of the model's own.

    The run notes which model answered and what all that were asked used. Raises LeaseLost; a model that fails or writes
    anything else is replaced by a template.
    """
    item, customer_id = RefundRequest.objects.values_list("line__name", "customer_id").get(pk=request_id)
    people = staff_names(request_id)
    note = without_names(note, people)
    deadline = time.monotonic() + settings.CALL_MAX_SECONDS
    spending = spent_before(lease)

    def before_each() -> None:
        spending.check()
        lease.renew()

    try:
        call = Call(_messages(item, note), [], deadline, before_each, spending.add, customer_id)
        reply = ask(reviewing_model(), call)
    except ModelTrouble:
        _note_on_run(lease, Reply(""), spending.usage)
        return template(item, note)
    _note_on_run(lease, reply, spending.usage)
    if reply.tool_calls or not is_fit(reply.text, note, item, people):
        return template(item, note)
    return _as_read(reply.text)


def template(item: str, note: str) -> str:
    """The same message without a model; the note's sentences become one, and what a customer may not read no reason."""
    reason = shorten(one_sentence(visible(note)), NOTE_LENGTH) if _may_be_read(note) else ""
    because = f" The reason: {reason}." if reason else ""
    return f"Thank you for telling us about your {item}. We looked at it with care and cannot refund it.{because}"


def is_fit(text: str, note: str, item: str, people: frozenset[Person]) -> bool:
    """May a customer read this? It declines, and all its numbers and promises stand in the note or the item's name."""
    words = _as_read(text)
    if TURNING.search(text) or not 0 < len(words) <= MAX_LENGTH or len(SENTENCE_END.split(words)) > MAX_SENTENCES:
        return False
    if not _may_be_read(words):
        return False
    if not set(NUMBER.findall(words)) <= set(NUMBER.findall(f"{note} {item}")):
        return False
    if not declines(words) or own_promises(words, f"{note} ; {item}"):
        return False
    return not names_one_of(words, people)


def _as_read(text: str) -> str:
    return visible(" ".join(text.split()))


def _may_be_read(text: str) -> bool:
    return not has_markup(text) and not OUR_WORDS.search(text)


def _messages(item: str, note: str) -> list[Message]:
    facts = [f"Item: {one_line(item)}", f"Note: {one_line(note)}"]
    return [
        {"role": "system", "content": DECLINE.format(shop=settings.SHOP_NAME)},
        {"role": "user", "content": "\n".join(facts)},
    ]


def _note_on_run(lease: Lease, reply: Reply, used: Usage) -> None:
    """`used`: by all tries of the run."""
    with lease.fenced():
        Run.objects.filter(pk=lease.run_id, token=lease.token).update(
            provider=reply.provider[:40],
            model=reply.model[:120],
            prompt_version=PROMPT_VERSION,
            tokens_in=used.tokens_in,
            tokens_out=used.tokens_out,
            cost_micro=used.cost_micro,
        )
