"""What a tool is: a name, what the model is told, its arguments, and the function that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.llm.base import ToolSpec
from agent.tools.arguments import Arguments
from agent.tools.context import Outcome, ReviewContext
from agent.tools.schema import strict_schema


class NoArguments(Arguments):
    """For tools that need to be told nothing."""


@dataclass(frozen=True)
class Tool:
    """`running_title`: the step is saved with it as running before the call and updated after. `money`: runs once in
    one answer of the model, however often it stands there."""

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[ReviewContext, Any], Outcome]
    failed_title: str
    running_title: str = ""
    money: bool = False

    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, strict_schema(self.arguments))
