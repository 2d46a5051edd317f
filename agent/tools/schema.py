"""The strict JSON schema of a tool's arguments: every field required, no others, no references."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

# Names, and limits that strict mode does not know; the limits hold all the same, in code.
DROPPED = frozenset({"title", "default", "$defs", "minLength", "maxLength", "minItems", "maxItems"})


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    strict: dict[str, Any] = _strict(schema, schema.get("$defs", {}))
    strict.pop("description", None)
    return strict


def _strict(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_strict(entry, definitions) for entry in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    if node.get("type") != "object":
        return {key: _strict(value, definitions) for key, value in node.items() if key not in DROPPED}
    properties = {name: _strict(field, definitions) for name, field in node.get("properties", {}).items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
