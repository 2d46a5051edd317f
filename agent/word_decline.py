"""Words a staff member's decline for the customer: the model when it does well, else a template."""

from __future__ import annotations

import re
import time

from django.conf import settings

from agent.customer_words import has_markup
from agent.lease import Lease
from agent.llm.ask import Call, ask
from agent.llm.base import Message, ModelTrouble, Reply
from agent.llm.choose import reviewing_model
from agent.llm.spending import Spending
from agent.models import Run
from agent.prompts import PROMPT_VERSION
from agent.prompts.decline import DECLINE
from agent.prompts.fence import one_line
from agent.prompts.one_sentence import SENTENCE_END, one_sentence
from agent.staff_names import Person, names_one_of, staff_names, without_names
from intake.models import RefundRequest
from intake.timeline import shorten

MAX_SENTENCES = 3
MAX_LENGTH = 700
NOTE_LENGTH = 400
OUR_WORDS = re.compile(r"\b(?:tool|rule|score|system|agent|model|software|automatic|approval|staff)s?\b", re.IGNORECASE)
NUMBER = re.compile(r"\d+")


def word_decline(lease: Lease, *, request_id: int, note: str) -> str:
    """What the customer reads: at most three sentences, without names of staff, markup, or a number of the model's own.

    The run notes which model answered and what all that were asked used. Raises LeaseLost; a model that fails or writes
    anything else is replaced by a template.
    """
    item, customer_id = RefundRequest.objects.values_list("line__name", "customer_id").get(pk=request_id)
    people = staff_names(request_id)
    note = without_names(note, people)
    deadline = time.monotonic() + settings.CALL_MAX_SECONDS
    spending = Spending()

    def before_each() -> None:
        spending.check()
        lease.renew()

    try:
        call = Call(_messages(item, note), [], deadline, before_each, spending.add, customer_id)
        reply = ask(reviewing_model(), call)
    except ModelTrouble as trouble:
        _note_on_run(lease, Reply("", usage=trouble.usage))
        return template(item, note)
    _note_on_run(lease, reply)
    if reply.tool_calls or not is_fit(reply.text, note, item, people):
        return template(item, note)
    return " ".join(reply.text.split())


def template(item: str, note: str) -> str:
    """The same message without a model; the note's sentences become one, and what a customer may not read no reason."""
    reason = shorten(one_sentence(note), NOTE_LENGTH) if _may_be_read(note) else ""
    because = f" The reason: {reason}." if reason else ""
    return f"Thank you for telling us about your {item}. We looked at it with care and cannot refund it.{because}"


def is_fit(text: str, note: str, item: str, people: frozenset[Person]) -> bool:
    """May a customer read this? Every number in it has to stand in the note or the item's name."""
    words = " ".join(text.split())
    if not 0 < len(words) <= MAX_LENGTH or len(SENTENCE_END.split(words)) > MAX_SENTENCES:
        return False
    if not _may_be_read(words):
        return False
    if not set(NUMBER.findall(words)) <= set(NUMBER.findall(f"{note} {item}")):
        return False
    return not names_one_of(words, people)


def _may_be_read(text: str) -> bool:
    return not has_markup(text) and not OUR_WORDS.search(text)


def _messages(item: str, note: str) -> list[Message]:
    facts = [f"Item: {one_line(item)}", f"Note: {one_line(note)}"]
    return [
        {"role": "system", "content": DECLINE.format(shop=settings.SHOP_NAME)},
        {"role": "user", "content": "\n".join(facts)},
    ]


def _note_on_run(lease: Lease, reply: Reply) -> None:
    with lease.fenced():
        Run.objects.filter(pk=lease.run_id, token=lease.token).update(
            provider=reply.provider[:40],
            model=reply.model[:120],
            prompt_version=PROMPT_VERSION,
            tokens_in=reply.usage.tokens_in,
            tokens_out=reply.usage.tokens_out,
            cost_micro=reply.usage.cost_micro,
        )
