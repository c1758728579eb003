"""The file that `firstlight calibrate` writes: a noise band, or the noise of a testbed."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from firstlight.atomic import atomic_write
from firstlight.comparison.noise_band import Band
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.errors import MISSING_INPUT, FirstlightError, UsageError

_MODELS: dict[str, type[Band] | type[Calibration]] = {"noise_band": Band, "nuisance": Band, "testbed": Calibration}
_HINT = "`firstlight calibrate a.boot -o band.json` writes one"


def write_band(band: Band | Calibration, path: Path) -> None:
    """Write a band as JSON, whole or not at all; what is there is replaced.

    :raises FirstlightError: when it cannot be written.
    """
    with atomic_write(path, force=True) as written:
        written.write_text(band.model_dump_json(indent=2) + "\n", encoding="utf-8")


def read_band(path: Path) -> Band | Calibration:
    """Read what :func:`write_band` wrote.

    :raises UsageError: when the file is missing.
    :raises FirstlightError: when it is something else, or damaged.

    >>> from firstlight.errors import UsageError
    >>> try:
    ...     read_band(Path("nowhere/band.json"))
    ... except UsageError as error:
    ...     print(error)
    nowhere/band.json: cannot be read: No such file or directory
    """
    where = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise UsageError(message, where=where, hint=_HINT, exit_code=MISSING_INPUT) from error
    except UnicodeDecodeError as error:
        raise FirstlightError("this is not a band: it is not text", where=where, hint=_HINT) from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FirstlightError("this is not a band: it is not JSON", where=where, hint=_HINT) from error
    model = _MODELS.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if model is None:
        raise FirstlightError("this is not a band", where=where, hint=_HINT)
    try:
        found = model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise FirstlightError(f"the band is damaged: `{place}`: {first['msg']}", where=where, hint=_HINT) from error
    return found.in_present_words() if isinstance(found, Band) else found
