"""The page of a finished study, made anew from its data.

The folder of a study has a page of its own, but a file of the folder never runs in the browser: only pages that this
Firstlight makes do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from firstlight.bundle.contents import read_regular
from firstlight.errors import FirstlightError
from firstlight.study.outcome import Outcome
from firstlight.study.table import MissingValue

_LARGEST = 64 << 20


def read_outcome(folder: Path) -> Outcome:
    """A study as `study.json` of its folder holds it.

    :raises FirstlightError: when it is missing, damaged or of another version.
    """
    where = str(folder / "study.json")
    try:
        data = json.loads(read_regular(folder / "study.json", _LARGEST))
    except OSError as error:
        raise FirstlightError(f"cannot be read: {error.strerror}", where=where) from error
    except (ValueError, RecursionError) as error:
        raise FirstlightError("this is not a study: it is not JSON", where=where) from error
    if not isinstance(data, dict) or data.get("format") != "firstlight-study":
        raise FirstlightError("this is not a study", where=where)
    try:
        kept = {key: value for key, value in data.items() if key not in ("format", "version")}
        for table in [*kept.get("tables", []), *kept.get("historical", [])]:
            table["rows"] = [[_value(value) for value in row] for row in table["rows"]]
        return TypeAdapter(Outcome).validate_python(kept)
    except (ValidationError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        hint = "run the study again with this Firstlight"
        raise FirstlightError("this is not a study of this version", where=where, hint=hint) from error


def _value(value: Any) -> Any:
    return MissingValue(str(value["missing"])) if isinstance(value, dict) else value
