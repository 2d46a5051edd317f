"""The review: the model asks for tools, code runs them, until the review ends with money reserved or with staff."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.utils import timezone

from agent.case_file import read_case, review_messages
from agent.lease import Lease
from agent.llm.ask import Call, ask
from agent.llm.base import NO_USAGE, ChatModel, Message, ModelTrouble, Reply, Skipped, ToolCall, ToolSpec, Usage
from agent.llm.choose import reviewing_model
from agent.llm.model_chain import ModelChain
from agent.llm.payload import WRITTEN_BY
from agent.models import Run
from agent.outcomes import Handover, Point, ReviewResult
from agent.prompts import PROMPT_VERSION
from agent.prompts.fence import new_nonce
from agent.prompts.review import ASK_FOR_CALL
from agent.tools.arguments import storable
from agent.tools.call import Ran, as_json, for_history, run_call, same_call_key
from agent.tools.context import ReviewContext
from agent.tools.offered import TOOLS, offered_tools
from intake.models import Step
from intake.timeline import Entry, write_step

SAME_CALL_LIMIT = 3
CALLS_LIMIT = 16
BAD_ANSWERS_LIMIT = 3
EMPTY_ANSWERS_LIMIT = 2
# Kept free at the end of a run for reserving money, or for the card.
SPARE_SECONDS = 30


class GivenUp(Exception):
    """The review goes to a person as it is; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def review(lease: Lease, *, may_refund: bool) -> ReviewResult:
    """One review of the lease's request. `may_refund`: nobody of the staff is in yet.

    Writes its steps in fenced transactions. Whatever a model or its provider does, it ends with a result; what goes
    wrong there becomes a `manual_review` hand-over with an error step. Raises LeaseLost.
    """
    started = time.monotonic()
    seconds = min(settings.REVIEW_MAX_SECONDS, (lease.last_moment - timezone.now()).total_seconds() - SPARE_SECONDS)
    model = reviewing_model()
    context = ReviewContext(lease, read_case(lease.request_id), may_refund, deadline=started + seconds)
    _open(context)
    try:
        return _Conversation(context, model).run()
    except ModelTrouble as trouble:
        return _to_a_person(context, trouble.sentence, trouble.skipped, trouble.usage)
    except GivenUp as reason:
        return _to_a_person(context, reason.sentence)


@dataclass
class _Conversation:
    """The messages of one review and the counts that bound it."""

    context: ReviewContext
    model: ChatModel | ModelChain
    messages: list[Message] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    bad_answers: int = 0
    empty_answers: int = 0

    def run(self) -> ReviewResult:
        may_refund = self.context.may_refund
        self.messages = review_messages(self.context.case, new_nonce(), may_refund=may_refund)
        tools = [tool.spec() for tool in offered_tools(may_refund=may_refund)]
        for _ in range(settings.REVIEW_MAX_ROUNDS):
            if time.monotonic() >= self.context.deadline:
                raise GivenUp("The review took longer than its time.")
            ending = self._round(tools)
            if ending is not None:
                return ending
        raise GivenUp(f"The review did not come to an end in {settings.REVIEW_MAX_ROUNDS} rounds.")

    def _round(self, tools: list[ToolSpec]) -> ReviewResult | None:
        context = self.context
        customer_id = context.request.customer_id
        call = Call(self.messages, tools, context.deadline, context.renew, context.spending.add, customer_id)
        reply = ask(self.model, call)
        context.answered = reply
        if not reply.tool_calls:
            self._ask_for_a_call(reply, tools)
            return None
        calls = [for_history(call) for call in reply.tool_calls]
        self._remember(reply, content=reply.text or None, tool_calls=calls)
        return self._run_calls(reply)

    def _add(self, message: Message) -> None:
        """What a model said may hold half a character, which no provider could be sent again."""
        self.messages.append(storable(message))

    def _remember(self, reply: Reply, **said: object) -> None:
        """The model's turn; its provider's own fields go back to that provider only."""
        self._add({"role": "assistant", **said, **reply.extras, WRITTEN_BY: reply.provider})

    def _ask_for_a_call(self, reply: Reply, tools: list[ToolSpec]) -> None:
        self.empty_answers += 1
        if self.empty_answers >= EMPTY_ANSWERS_LIMIT:
            raise GivenUp("The model answered twice without using a tool.")
        names = ", ".join(tool.name for tool in tools)
        if reply.text:
            self._remember(reply, content=reply.text)
        self._add({"role": "user", "content": ASK_FOR_CALL.format(tools=names)})

    def _run_calls(self, reply: Reply) -> ReviewResult | None:
        """One after another; what stands behind a call that ends the review is not run."""
        if len(reply.tool_calls) > CALLS_LIMIT:
            raise GivenUp(f"The model asked for more than {CALLS_LIMIT} things in one answer.")
        paid: Ran | None = None
        bad = False
        for position, call in enumerate(reply.tool_calls):
            self._count(call)
            is_money = call.name in TOOLS and TOOLS[call.name].money
            if is_money and paid is not None:
                ran = Ran(call, paid.outcome)
            else:
                told = reply if position == 0 else replace(reply, usage=NO_USAGE, skipped=(), duration_ms=0)
                ran = run_call(self.context, call, told, told.usage)
            if is_money and not ran.bad:
                paid = ran
            if ran.outcome.ending is not None:
                return ran.outcome.ending
            bad = bad or ran.bad
            self._add(ran.as_message())
        self._count_bad(bad)
        return None

    def _count(self, call: ToolCall) -> None:
        key = same_call_key(call)
        self.asked[key] += 1
        if self.asked[key] >= SAME_CALL_LIMIT:
            raise GivenUp(f"The model asked for the same thing {SAME_CALL_LIMIT} times.")

    def _count_bad(self, bad: bool) -> None:
        self.bad_answers += bad
        if self.bad_answers >= BAD_ANSWERS_LIMIT:
            raise GivenUp("The model kept asking for calls that cannot be run.")


def _open(context: ReviewContext) -> None:
    """Notes on the run how it was told what to do; who answers is noted with each answer."""
    with context.fenced():
        Run.objects.filter(pk=context.lease.run_id, token=context.lease.token).update(prompt_version=PROMPT_VERSION)


def _to_a_person(
    context: ReviewContext, sentence: str, skipped: tuple[Skipped, ...] = (), used: Usage = NO_USAGE
) -> Handover:
    """The hand-over without a recommendation, with an error step that says why and what was `used` in vain."""
    entry = Entry(
        kind=Step.Kind.ERROR,
        actor=Step.Actor.SYSTEM,
        title="The review stopped before a recommendation",
        detail=sentence,
        run_uuid=context.lease.run_id,
        state=Step.State.FAILED,
        skipped=as_json(skipped),
        tokens_in=used.tokens_in,
        tokens_out=used.tokens_out,
        cost_micro=used.cost_micro,
    )
    with context.fenced():
        step = write_step(context.request.pk, entry)
        context.note_on_run()
    return context.hand_over(
        "manual_review",
        reasoning="The agent could not finish this review, so it recommends nothing. Please decide on the facts.",
        concerns=(Point(sentence, step.position, "code"),),
    )
