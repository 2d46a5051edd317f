"""Asks the models of a chain, one after another, until one answers. What each call cost is counted at once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection
from django.utils import timezone

from agent.llm.base import (
    NO_USAGE,
    BadRequest,
    ChatModel,
    ContentRefused,
    CutOff,
    KeyRefused,
    LimitReached,
    Message,
    ModelTrouble,
    NoEyes,
    NotFound,
    Reply,
    Skipped,
    Temporary,
    ToolSpec,
    Usage,
    UsedUp,
    Watch,
)
from agent.llm.model_chain import Link, ModelChain
from agent.llm.openai_chat import NO_EYES, OpenAIChat
from agent.llm.passing_over import BLIND, check_provider, why_not
from agent.llm.patience import complete_patiently
from agent.llm.payload import about_tokens, as_sent_to
from agent.llm.provider_state import note_failure, note_refused_key, note_success, states_of
from agent.llm.scripted import PROVIDER as SCRIPTED
from agent.llm.token_ledger import check_customer, count_call
from agent.models import ProviderState

logger = logging.getLogger(__name__)

NOBODY = "No language model is set up here, so a person takes the case."
NOBODY_ANSWERED = "No model could work on this request."


@dataclass(frozen=True)
class Call:
    """What is asked, on behalf of whose request. `before_each` runs before each call of a provider and each wait (the
    lease, the run's limits), `spend` is told what each call used, also one that failed.

    `deadline` is a moment of `time.monotonic()`.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    deadline: float
    before_each: Callable[[], None]
    spend: Callable[[Usage], None]
    customer_id: int


def ask(model: ChatModel | ModelChain, call: Call) -> Reply:
    """The first answer of the chain, with the cost of all that were asked and who was passed over for it.

    Raises LimitReached when the customer's day or the run is used up, NoEyes when nobody in the chain takes pictures,
    else the ModelTrouble of the last model; each knows who was `skipped` and what all of them used.
    """
    chain = model if isinstance(model, ModelChain) else ModelChain((Link(model),))
    return _Asking(chain, call).answer()


def let_connection_go() -> None:
    """Nobody holds a connection of the database server while waiting for the network: fifty waiting runs need none.

    SQLite's are open files; closing the last one would write its whole log back, some milliseconds each time.
    """
    if connection.vendor != "sqlite" and not connection.in_atomic_block:
        connection.close()


class _Asking:
    """One call on its way through the chain."""

    def __init__(self, chain: ModelChain, call: Call) -> None:
        self.chain = chain
        self.call = call
        self.skipped: list[Skipped] = []
        self.spent = NO_USAGE
        self.trouble: ModelTrouble | None = None
        self.states: dict[str, ProviderState] = {}

    def answer(self) -> Reply:
        started = time.monotonic()
        try:
            self.states = states_of(link.provider for link in self.chain.links if link.provider)
            for link in self.chain.links:
                reply = self._answer_of(link)
                if reply is not None:
                    took = int((time.monotonic() - started) * 1000)
                    return replace(reply, usage=self.spent, skipped=tuple(self.skipped), duration_ms=took)
            raise self._nobody()
        except ModelTrouble as trouble:
            trouble.skipped, trouble.usage = tuple(self.skipped), self.spent
            raise

    def _answer_of(self, link: Link) -> Reply | None:
        """None: the next one is asked."""
        why = why_not(link, self.chain, self.states.get(link.name), self.call.messages, self.call.deadline)
        if why:
            self.skipped.append(Skipped(link.name, why))
            return None
        asked_at = timezone.now()
        try:
            reply = self._ask(link)
        except LimitReached:
            raise
        except UsedUp as trouble:
            self.skipped.append(Skipped(link.name, trouble.sentence))
            return None
        except ModelTrouble as trouble:
            self.trouble = trouble
            self.skipped.append(Skipped(link.name, trouble.sentence))
            self.chain.failed[link.name] = trouble.sentence
            self._learn(link, trouble, asked_at)
            return None
        note_success(link.name, self.states.get(link.name))
        return reply

    def _ask(self, link: Link) -> Reply:
        messages = as_sent_to(link.name, self.call.messages)

        def before_each() -> None:
            self.call.before_each()
            check_customer(self.call.customer_id)
            check_provider(link.provider)
            if link.waits:
                let_connection_go()

        def after(usage: Usage) -> None:
            priced = link.with_cost(usage, lambda: about_tokens(messages, self.call.tools))
            count_call(link.name, self.call.customer_id, priced)
            self.spent = self.spent + priced
            self.call.spend(priced)

        watched = _Watched(link.model, Watch(after, before_each))
        return complete_patiently(watched, messages, self.call.tools, self._deadline(link), before_each)

    def _deadline(self, link: Link) -> float:
        """Whoever has another provider behind it may use half of the time that is left."""
        behind = self.chain.links[self.chain.links.index(link) + 1 :]
        if not any(other.provider and other.name not in self.chain.failed for other in behind):
            return self.call.deadline
        now = time.monotonic()
        return now + (self.call.deadline - now) / 2

    def _learn(self, link: Link, trouble: ModelTrouble, asked_at: datetime) -> None:
        """What other calls and other workers should know. A refused content or a call that only this case makes says
        nothing against its provider: one customer's text must not turn it off for all."""
        if isinstance(trouble, ContentRefused):
            self.chain.refusals += 1
            return
        if isinstance(trouble, KeyRefused):
            known = self.states.get(link.name)
            if link.provider is None or note_refused_key(link.provider, trouble.sentence, known):
                logger.error("the provider %s does not accept the key: it is passed over until that changes", link.name)
            return
        if link.provider is None or isinstance(trouble, NoEyes | CutOff):
            return
        if isinstance(trouble, BadRequest) and not isinstance(trouble, NotFound):
            return
        wait = trouble.wait if isinstance(trouble, Temporary) else None
        note_failure(link.provider, trouble.sentence, asked_at=asked_at, wait=wait)

    def _nobody(self) -> ModelTrouble:
        if not self.chain.links:
            return ModelTrouble(NOBODY)
        if all(skipped.why in BLIND for skipped in self.skipped):
            return NoEyes(NO_EYES)
        asked = [skipped for skipped in self.skipped if skipped.provider != SCRIPTED]
        if self.trouble and len(asked) <= 1:
            return self.trouble
        told = " ".join(f"{skipped.provider}: {skipped.why}" for skipped in asked)
        return ModelTrouble(f"{NOBODY_ANSWERED} {told}")


class _Watched:
    """A model whose every call is watched, also one that fails."""

    def __init__(self, model: ChatModel, watch: Watch) -> None:
        self._chat = model
        self._watch = watch
        self.provider, self.model = model.provider, model.model

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        if isinstance(self._chat, OpenAIChat):  # one answer may take several calls of its provider
            return self._chat.complete(messages, tools, deadline, self._watch)
        try:
            reply = self._chat.complete(messages, tools, deadline)
        except ModelTrouble as trouble:
            self._watch.after(trouble.usage)
            raise
        self._watch.after(reply.usage)
        return reply
