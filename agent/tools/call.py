"""Runs one call of the model: checks it, runs its tool, writes its step. A bad call is answered, never guessed at."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from agent.llm.base import NO_USAGE, ModelTrouble, Reply, Skipped, ToolCall, Usage
from agent.tools.arguments import Arguments, BadArguments, read_arguments, read_object
from agent.tools.context import Outcome, ReviewContext
from agent.tools.offered import TOOLS, offered_tools
from agent.tools.tool import Tool
from intake.models import Step
from intake.timeline import Entry, finish_step, write_step

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Ran:
    """A call and what came of it; `bad`: the call itself could not be run."""

    call: ToolCall
    outcome: Outcome
    bad: bool = False

    def as_message(self) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": self.call.id, "content": json.dumps(self.outcome.result)}


def run_call(context: ReviewContext, call: ToolCall, reply: Reply, usage: Usage) -> Ran:
    """`usage`: what the step says it cost. Of several calls in one answer, the first carries the answer's tokens and
    time, and who was passed over for it.

    Raises LeaseLost; then nothing of the call was written. Raises ModelTrouble of the look at the pictures, after its
    step was marked as failed.
    """
    recorder = _Recorder(context, call, reply, usage)
    tool = TOOLS.get(call.name)
    if tool is None:
        names = ", ".join(tool.name for tool in offered_tools(may_refund=context.may_refund))
        error = {"error": f"There is no such tool. The tools are: {names}."}
        return recorder.bad(UNKNOWN, Outcome(error, "Asked for a tool that does not exist", failed=True))
    try:
        arguments = read_arguments(call.arguments, tool.arguments)
    except BadArguments as problem:
        outcome = Outcome({"error": problem.sentence}, tool.failed_title, problem.sentence, failed=True)
        return recorder.bad(tool.name, outcome)
    outcome = recorder.run(tool, arguments)
    return Ran(call, outcome)


def for_history(call: ToolCall) -> dict[str, Any]:
    """The call as it stands in the conversation: always valid JSON, whatever the model wrote."""
    try:
        arguments = json.dumps(read_object(call.arguments))
    except BadArguments:
        arguments = "{}"
    return {"id": call.id, "type": "function", "function": {"name": _plain(call.name), "arguments": arguments}}


def same_call_key(call: ToolCall) -> str:
    """Two calls with this key ask for the same thing."""
    function = for_history(call)["function"]
    return f"{function['name']} {function['arguments']}"


class _Recorder:
    """Writes the step of one call, in fenced transactions."""

    def __init__(self, context: ReviewContext, call: ToolCall, reply: Reply, usage: Usage) -> None:
        self.context = context
        self.call = call
        self.reply = reply
        self.usage = usage

    def bad(self, name: str, outcome: Outcome) -> Ran:
        """What the model wrote is not kept: it may hold another order's number, or anything at all."""
        with self.context.fenced():
            self._write(name, None, outcome, duration_ms=0)
        return Ran(self.call, outcome, bad=True)

    def run(self, tool: Tool, arguments: Arguments) -> Outcome:
        written = arguments.model_dump(mode="json")
        if not tool.running_title:
            started = time.monotonic()
            outcome = tool.run(self.context, arguments)
            with self.context.fenced():
                self._write(tool.name, written, outcome, _milliseconds_since(started))
            return outcome
        return self._run_visibly(tool, arguments, written)

    def _run_visibly(self, tool: Tool, arguments: Arguments, written: dict[str, Any]) -> Outcome:
        entry = Entry(
            kind=Step.Kind.TOOL,
            actor=Step.Actor.AGENT,
            title=tool.running_title,
            run_uuid=self.context.lease.run_id,
            state=Step.State.RUNNING,
            tool=tool.name,
            arguments=written,
            provider=self.reply.provider,
            model=self.reply.model,
        )
        with self.context.fenced():
            step = write_step(self.context.request.pk, entry)
        started = time.monotonic()
        try:
            outcome = tool.run(self.context, arguments)
        except ModelTrouble as trouble:
            failure = Outcome(
                {"error": trouble.sentence},
                tool.failed_title,
                trouble.sentence,
                failed=True,
                usage=trouble.usage,
                answered=Reply("", skipped=trouble.skipped),
            )
            self._finish(step, failure, _milliseconds_since(started))
            trouble.usage = NO_USAGE  # this step tells it
            raise
        self.context.answered = outcome.answered or self.context.answered
        self._finish(step, outcome, _milliseconds_since(started))
        return outcome

    def _finish(self, step: Step, outcome: Outcome, duration_ms: int) -> None:
        """The step of a tool that asked a model itself names that one, and who was passed over for either."""
        usage = self.usage + outcome.usage
        own = outcome.answered or Reply("")
        with self.context.fenced():
            finish_step(
                step.pk,
                state=_state(outcome),
                title=outcome.title,
                detail=outcome.detail,
                result=outcome.result,
                provider=(own.provider or self.reply.provider)[:40],
                model=(own.model or self.reply.model)[:120],
                tokens_in=usage.tokens_in,
                tokens_out=usage.tokens_out,
                cost_micro=usage.cost_micro,
                skipped=as_json((*self.reply.skipped, *own.skipped)),
                duration_ms=self.reply.duration_ms + duration_ms,
            )
            self.context.note_on_run()
        self._remember(step.tool, step.position, outcome)

    def _write(self, name: str, arguments: dict[str, Any] | None, outcome: Outcome, duration_ms: int) -> None:
        entry = Entry(
            kind=Step.Kind.TOOL,
            actor=Step.Actor.AGENT,
            title=outcome.title,
            detail=outcome.detail,
            run_uuid=self.context.lease.run_id,
            state=_state(outcome),
            tool=name,
            arguments=arguments,
            result=outcome.result,
            provider=self.reply.provider,
            model=self.reply.model,
            tokens_in=self.usage.tokens_in,
            tokens_out=self.usage.tokens_out,
            cost_micro=self.usage.cost_micro,
            skipped=as_json(self.reply.skipped),
            duration_ms=self.reply.duration_ms + duration_ms,
        )
        self._remember(name, write_step(self.context.request.pk, entry).position, outcome)
        self.context.note_on_run()

    def _remember(self, name: str, position: int, outcome: Outcome) -> None:
        """What a finding may rest on."""
        if not outcome.failed:
            self.context.positions[name] = position


def as_json(skipped: tuple[Skipped, ...]) -> list[dict[str, str]]:
    """As a step keeps them, each once."""
    return [{"provider": one.provider, "why": one.why} for one in dict.fromkeys(skipped)]


def _state(outcome: Outcome) -> Step.State:
    return Step.State.FAILED if outcome.failed else Step.State.DONE


def _milliseconds_since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)


def _plain(name: str) -> str:
    """A name every provider takes back: letters, digits, `_` and `-`."""
    kept = "".join(char for char in name if char.isascii() and (char.isalnum() or char in "_-"))
    return kept[:64] or UNKNOWN
