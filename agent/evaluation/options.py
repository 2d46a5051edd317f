"""What may be changed for a playing: the model that answers, the policy's numbers, more instructions for the review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from intake.models import PolicyVersion

# Set by the house itself; everything else of a policy version is a number or a text of the shop.
NOT_OF_THE_SHOP = frozenset({"id", "number", "created_at"})
POLICY_FIELDS = frozenset(field.name for field in PolicyVersion._meta.concrete_fields) - NOT_OF_THE_SHOP


class BadOptions(Exception):
    """An option nobody knows; `sentence` says which and what is known."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Options(BaseModel):
    """Empty: as this installation is configured. `prompt` is added behind the review's instructions, which stay as they
    are: they hold what keeps a model from being talked into things."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str = Field(default="", max_length=40)
    model: str = Field(default="", max_length=120)
    policy: dict[str, int | str] = Field(default_factory=dict)
    prompt: str = Field(default="", max_length=20_000)


def read_options(given: Mapping[str, Any]) -> Options:
    """Raises BadOptions."""
    try:
        options = Options.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadOptions(f"{place}: {first['msg']}.") from None
    check_policy(options.policy)
    return options


def check_policy(changes: Mapping[str, int | str]) -> None:
    """Raises BadOptions for a field that a policy version does not have."""
    unknown = sorted(set(changes) - POLICY_FIELDS)
    if unknown:
        raise BadOptions(f"A policy has no {', '.join(unknown)}; it has {', '.join(sorted(POLICY_FIELDS))}.")
