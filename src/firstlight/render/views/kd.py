"""The table of the tool `kd`, laid out as kd 1.1 prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from firstlight.errors import UsageError
from firstlight.escape import printable

#: What kd shows without options.
DEFAULT_COLUMNS = "Fctal"

# Identifier: title, width, whether the title's side is the value's (left), and the columns of the table it is made of.
_COLUMNS: dict[str, tuple[str, int, bool, tuple[str, ...]]] = {
    "F": ("Function", 35, True, ("function",)),
    "c": ("Count", 5, False, ("count",)),
    "t": ("Time", 8, False, ("time_us",)),
    "a": ("Average", 8, False, ("average_us",)),
    "r": ("Range", 12, False, ("min_us", "max_us")),
    "s": ("Sub-time", 8, False, ("sub_time_us",)),
    "l": ("Local", 8, False, ("local_us",)),
    "m": ("Max-sub", 35, False, ("max_sub",)),
    "n": ("Ms count", 8, False, ("max_sub_count",)),
    "u": ("Sub list", 20, True, ("sub_list",)),
}

#: What kd can sort by.
SORT_COLUMNS = "Fctasl"


def sort_kd(rows: Iterable[Mapping[str, Any]], column: str = "t") -> list[Mapping[str, Any]]:
    """Order rows as `kd -s` does: the largest first, names from the last letter of the alphabet.

    :param rows: rows of the bundle's table `kd`, in its order; equal ones keep it.
    :param column: kd's identifier of the column: one of `Fctasl`.
    :raises UsageError: for a column that kd cannot sort by.

    >>> [row["function"] for row in sort_kd([{"function": "a", "count": 1}, {"function": "b", "count": 2}], "c")]
    ['b', 'a']
    """
    if len(column) != 1 or column not in SORT_COLUMNS:
        raise UsageError(f"kd cannot sort by `{column}`", hint=f"one of: {' '.join(SORT_COLUMNS)}")
    key = _COLUMNS[column][3][0]
    if column == "F":
        return sorted(rows, key=lambda row: str(row[key]), reverse=True)
    return sorted(rows, key=lambda row: (row[key] is not None, row[key] or 0), reverse=True)


def kd_text(rows: Iterable[Mapping[str, Any]], columns: str = DEFAULT_COLUMNS) -> str:
    """Lay out rows as kd prints them, in the order given; control characters in names are escaped.

    :param rows: rows of the bundle's table `kd`; times in microseconds; None leaves the place empty.
    :param columns: kd's identifiers: `F` function, `c` count, `t` time, `a` average, `r` range, `s` sub-time,
        `l` local, `m` max-sub, `n` its count, `u` list of callees.
    :raises UsageError: for an identifier that kd does not have.

    Source of the layout: `scripts/kd` 1.1 of the KFT patch.

    >>> print(kd_text([{"function": "wait_ready", "count": 1, "time_us": 3000}], "Fct"), end="")
    Function                            Count Time
    ----------------------------------- ----- --------
    wait_ready                              1     3000
    """
    unknown = [column for column in columns if column not in _COLUMNS]
    if unknown or not columns:
        what = f"kd has no column `{unknown[0]}`" if unknown else "no column is asked for"
        raise UsageError(what, hint=f"its columns are {' '.join(_COLUMNS)}; the default is {DEFAULT_COLUMNS}")
    chosen = [_COLUMNS[column] for column in columns]
    lines = [
        " ".join(title.ljust(width) for title, width, _, _ in chosen),
        " ".join("-" * width for _, width, _, _ in chosen),
    ]
    lines += [" ".join(_cell(row, column) for column in columns) for row in rows]
    return "\n".join(lines) + "\n"


def _cell(row: Mapping[str, Any], column: str) -> str:
    _, width, left, keys = _COLUMNS[column]
    if column == "u":
        names = (row[keys[0]] or "").split()
        return "[" + ", ".join(f"'{printable(name)}'" for name in names) + "]"
    values = [row[key] for key in keys]
    if column == "r":
        text = "" if None in values else f"({values[0]}-{values[1]})"
    else:
        text = "" if values[0] is None else printable(str(values[0]))
    return text.ljust(width) if left else text.rjust(width)
