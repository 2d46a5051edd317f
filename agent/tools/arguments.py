"""Reads what a model wrote as arguments: strict JSON, one object, the fields of the tool. Nothing is repaired."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from agent.prompts.fence import visible
from intake.timeline import shorten

MAX_LENGTH = 20_000
MOST_LEVELS = 50


class BadArguments(Exception):
    """The call cannot be run. `sentence` tells the model what to correct and repeats nothing of what it wrote."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Arguments(BaseModel):
    """Base of every tool's arguments: no conversion between types, no field that was not asked for."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


def up_to(length: int) -> BeforeValidator:
    """For text fields: what passes `length` characters is cut, since a long remark is no reason to lose it, and nobody
    reads what cannot be seen or turns a line around."""
    return BeforeValidator(lambda value: shorten(visible(value).strip(), length) if isinstance(value, str) else value)


def at_most(count: int) -> BeforeValidator:
    """For list fields: keeps the first `count` entries."""
    return BeforeValidator(lambda value: value[:count] if isinstance(value, list) else value)


def read_arguments(written: str, model: type[ArgumentsT]) -> ArgumentsT:
    """Raises BadArguments. An empty string means no arguments."""
    return validated(read_object(written), model)


def read_object(written: str) -> dict[str, Any]:
    """The one JSON object in `written`, with strings that any database can store. Raises BadArguments."""
    if len(written) > MAX_LENGTH:
        raise BadArguments("The arguments are too long.")
    if not written.strip():
        return {}
    try:
        value = json.loads(written, object_pairs_hook=_without_doubles, parse_constant=_no_such_number)
    except (ValueError, RecursionError):
        raise BadArguments("The arguments were not valid JSON. Send exactly one JSON object.") from None
    if not isinstance(value, dict):
        raise BadArguments("The arguments were no JSON object. Send exactly one JSON object.")
    kept: dict[str, Any] = storable(value)
    return kept


def validated(value: dict[str, Any], model: type[ArgumentsT]) -> ArgumentsT:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise BadArguments(_sentence(error, model)) from None


def _sentence(error: ValidationError, model: type[BaseModel]) -> str:
    known = ", ".join(model.model_fields) or "none"
    problems = []
    for problem in error.errors(include_input=False, include_url=False)[:3]:
        if problem["type"] == "extra_forbidden":
            problems.append("there is an argument that this tool does not take")
        else:
            path = ".".join(str(part) for part in problem["loc"])
            problems.append(f"{path}: {problem['msg']}" if path else problem["msg"])
    return f"The arguments do not fit: {'; '.join(problems)}. This tool takes: {known}."


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands there twice")
    return result


def _no_such_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def storable(value: Any, levels: int = MOST_LEVELS) -> Any:
    """`value` without what no database takes and no provider can be sent: NUL and lone surrogates, however deep.

    What lies deeper than any tool asks for becomes None, since Python would fall over it sooner or later.
    """
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [storable(entry, levels - 1) for entry in value] if levels else None
    if isinstance(value, dict):
        return {storable(key): storable(entry, levels - 1) for key, entry in value.items()} if levels else None
    return value
