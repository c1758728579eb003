"""JSON schemas of what every command prints with `--json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from firstlight.api.data import DATA
from firstlight.cli.envelope import VERSION

_ERROR = {
    "type": "object",
    "additionalProperties": False,
    "required": ["code", "message", "where", "hint", "exit_code"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "where": {"type": ["string", "null"]},
        "hint": {"type": ["string", "null"]},
        "exit_code": {"type": "integer"},
    },
}


class _Generator(GenerateJsonSchema):
    """Every field of a data class is printed, also one that has its default."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)


def schema(verb: str) -> dict[str, Any]:
    """The schema of the one document that a command prints."""
    data = TypeAdapter(DATA[verb]).json_schema(mode="serialization", schema_generator=_Generator)
    definitions = data.pop("$defs", {})
    for definition in [data, *definitions.values()]:
        if definition.get("type") == "object" and "properties" in definition:
            definition.setdefault("additionalProperties", False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"firstlight {verb.replace('-', ' ')} --json",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema", "command"],
        "anyOf": [{"required": ["data"]}, {"required": ["error"]}],
        "properties": {
            "schema": {"const": f"firstlight.{verb}/{VERSION}"},
            "command": {"type": "array", "items": {"type": "string"}},
            "data": data,
            "error": _ERROR,
        },
        "$defs": definitions,
    }


def schemas(folder: Path) -> dict[Path, str]:
    """The schema of every command, by its file."""
    return {folder / f"{verb}.json": json.dumps(schema(verb), indent=1, sort_keys=True) + "\n" for verb in DATA}
