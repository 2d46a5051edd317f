"""Which scenarios an evaluation played, in words: numbers of different ones do not stand for the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.models import Evaluation

EVERYTHING = "all scenarios"
MOST_NAMED = 3


def scope_of(evaluation: Evaluation) -> str:
    """`all scenarios`, `only limit edges, brake`, `folder my-cases`."""
    options: Any = evaluation.options if isinstance(evaluation.options, Mapping) else {}
    only = options.get("only") if isinstance(options.get("only"), list) else []
    said = [f"folder {options['folder']}"] if options.get("folder") else []
    if only:
        names = ", ".join(str(name).replace("_", " ") for name in only[:MOST_NAMED])
        more = len(only) - MOST_NAMED
        said.append(f"only {names}{f' and {more} more' if more > 0 else ''}")
    return ", ".join(said) or EVERYTHING


def differ(evaluations: Iterable[Evaluation]) -> bool:
    """Whether they played different scenarios, so that only rows of one kind can be compared."""
    return len({scope_of(evaluation) for evaluation in evaluations}) > 1
