"""What the user wrote down in TOML: read, checked, and every mistake named."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from firstlight.errors import MISSING_INPUT, UsageError
from firstlight.toml_errors import known_keys

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}

Model = TypeVar("Model", bound=BaseModel)


def duration_ns(value: object) -> object:
    """Read nanoseconds from a duration with its unit.

    :raises ValueError: when it has no unit, or is negative or no duration.

    >>> duration_ns("1.6 s"), duration_ns("20ms"), duration_ns("750 us")
    (1600000000, 20000000, 750000)
    """
    match = re.fullmatch(r"\s*(\d{1,12})(?:\.(\d{1,9}))?\s*(ns|us|ms|s)\s*", value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('write a duration with its unit, such as "20 ms"; there are ns, us, ms and s')
    whole, fraction = match[1], match[2] or ""
    unit = _UNITS[match[3]]
    scaled = int(whole + fraction) * unit
    if scaled % 10 ** len(fraction):
        raise ValueError("it is not a whole number of nanoseconds")
    return scaled // 10 ** len(fraction)


def percent(value: object) -> object:
    """Read a share in percent. A bare number is none: 0.1 could be a tenth of a percent or of the whole.

    :raises ValueError: when it lacks its sign, or is negative or no share.

    >>> percent("0.5 %"), percent("2%")
    (0.5, 2.0)
    """
    if isinstance(value, str) and (match := re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,9})?)\s*%\s*", value)):
        return float(match[1])
    raise ValueError('write a share with its sign, such as "0.5 %"')


#: Fields of a plan.
Duration = Annotated[int, BeforeValidator(duration_ns)]
Percent = Annotated[float, BeforeValidator(percent)]


def read_text(path: Path, *, encoding: str = "utf-8", largest: int | None = None) -> str:
    """Read the text of a file that a user names.

    :param encoding: `utf-8`, or `utf-8-sig` for a text that may begin with a byte-order mark.
    :param largest: bytes; a larger file is not read.
    :raises UsageError: when the file is missing, too large, or no text.

    >>> _ = (bundle.parent / "plan.toml").write_text("n = 1")
    >>> read_text(bundle.parent / "plan.toml")
    'n = 1'
    """
    where = str(path)
    try:
        if largest is not None and path.stat().st_size > largest:
            raise UsageError("this file is too large", where=where, hint=f"at most {largest:,} bytes are read")
        return path.read_text(encoding=encoding)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise UsageError(message, where=where, exit_code=MISSING_INPUT) from error
    except UnicodeDecodeError as error:
        raise UsageError("this is not text in UTF-8", where=where) from error


def read_toml(path: Path, model: type[Model]) -> Model:
    """Read a TOML file into a model.

    :raises UsageError: when the file is missing, is no TOML, or says what the model does not know, which is named.
    """
    return parse_checked(read_text(path), model, str(path))


def parse_checked(text: str, model: type[Model], where: str) -> Model:
    """Read TOML into a model.

    :param where: the file, for messages.
    :raises UsageError: when the text is not TOML, or says what the model does not know, which is named.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"this is not TOML: {error}", where=where) from error
    return check(data, model, where)


def check(data: object, model: type[Model], where: str) -> Model:
    """Check data against a model.

    :raises UsageError: with the first field that is wrong; for an unknown key the hint names the nearest.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            *parents, key = first["loc"]
            known = sorted(known_keys(model, tuple(parents)))
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
            hints = [f"did you mean `{near[0]}`?"] if near else []
            hints.append("there are: " + ", ".join(f"`{name}`" for name in known))
            raise UsageError(f"unknown key `{place}`", where=where, hint="\n".join(hints)) from error
        message = first["msg"].removeprefix("Value error, ")
        message = message[:1].lower() + message[1:] if message[1:2].islower() else message
        raise UsageError(f"`{place}`: {message}" if place else message, where=where) from error
