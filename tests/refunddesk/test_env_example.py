"""`.env.example` and the settings say the same."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

from refunddesk.model_settings import DEFAULTS, PROVIDER_DEFAULTS
from tests.processes import CODE

READERS = {"str", "int", "bool", "float", "list", "db_url"}
NUMBER_READERS = {"whole_number", "seconds"}
WORDS = {True: "on", False: "off"}


def read_settings() -> dict[str, object]:
    """Name -> default of each setting, None where the default is made by code."""
    found: dict[str, object] = {}
    for node in ast.walk(ast.parse((CODE / "refunddesk" / "settings.py").read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NUMBER_READERS:
            found[ast.literal_eval(node.args[1])] = ast.literal_eval(node.args[2])
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "env"):
            continue
        name = ast.literal_eval(node.args[0])
        default = next(keyword.value for keyword in node.keywords if keyword.arg == "default")
        found[name] = default.value if isinstance(default, ast.Constant) else None
    of_providers = {f"LLM_NAME_{name}": default for name, default in PROVIDER_DEFAULTS.items()}
    return {**found, **DEFAULTS, **of_providers}


def read_example(path: Path = CODE / ".env.example") -> dict[str, tuple[str, str]]:
    """Name -> (value, the sentence above it)."""
    lines = path.read_text().splitlines()
    found = {}
    for before, line in itertools.pairwise(lines):
        match = re.fullmatch(r"#([A-Z_]+)=(.*)", line)
        if match:
            found[match[1]] = (match[2], before)
    return found


def test_every_setting_is_listed_and_nothing_else() -> None:
    assert sorted(read_example()) == sorted(read_settings())


@pytest.mark.parametrize(("name", "default"), sorted(read_settings().items()))
def test_the_listed_default_is_the_one_that_holds(name: str, default: object) -> None:
    value, _ = read_example()[name]
    if default is None:
        assert value == ""
    elif isinstance(default, bool):
        assert value == WORDS[default]
    else:
        assert value == str(default)


@pytest.mark.parametrize("name", sorted(read_settings()))
def test_every_setting_has_a_sentence(name: str) -> None:
    _, sentence = read_example()[name]
    assert re.fullmatch(r"# .+[.;:]?.*", sentence)
