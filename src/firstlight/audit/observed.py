"""The second observer's tables, as the oracle writes them (`docs/design/oracle.md`)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstlight.audit.tables import AuditEvidence, AuditFigures, Tables, key
from firstlight.errors import LabError
from firstlight.schema.spans import CallRow


@dataclass(frozen=True)
class Observation:
    """What the oracle found."""

    tables: Tables
    evidence: AuditEvidence
    aliases: dict[str, str]
    """Further names of functions, and the name that stands for them."""
    names_initcalls: bool = True
    """Symbols name the initcalls; else they are the functions that `do_one_initcall` was given."""


def read_observation(path: Path) -> Observation:
    """Read the oracle's file.

    :raises LabError: when there is none, or it is damaged.
    """
    try:
        data = json.loads(path.read_bytes())
        return observation(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"the second observer left no tables that can be read: {error}",
            where=str(path),
            hint="run `firstlight doctor`",
        ) from error


def observation(data: dict[str, Any]) -> Observation:
    """The oracle's file, understood.

    >>> row = {"function": "f", "module": None, "entries": 2, "again": 1, "by_address": 7, "floating": 3, "total": 10}
    >>> found = observation({"executed": 10, "functions": [row], "edges": [["[boot]", "f", 2]], "elsewhere": [],
    ...                     "aliases": [["g", "f"]], "initcalls": [], "checks": {}, "happened": {}})
    >>> found.tables.functions["f"], found.aliases
    (AuditFigures(entries=2, self_instructions=10, total_instructions=10), {'g': 'f'})
    """
    functions = {}
    again, on_behalf = {}, {}
    for row in data["functions"]:
        name = key(row["function"], row["module"])
        if name == CallRow.BOOT:
            continue
        functions[name] = AuditFigures(row["entries"], row["by_address"] + row["floating"], row["total"])
        again[name], on_behalf[name] = row["again"], row["floating"]
    edges: Counter[tuple[str, str]] = Counter()
    for caller, callee, count in data["edges"]:
        edges[caller, callee] += count
    known = functions.keys() | {CallRow.KERNEL_WITHOUT_SYMBOL}
    return Observation(
        tables=Tables(
            instructions=data["executed"],
            functions=functions,
            edges=dict(edges),
            initcalls=frozenset(name for name, _ in data["initcalls"]),
            user_instructions=data.get("user", 0),
            before_kernel=data.get("before_kernel", 0),
        ),
        evidence=AuditEvidence(
            again={name: count for name, count in again.items() if count},
            elsewhere={(on, of): count for on, of, count in data["elsewhere"]},
            on_behalf={name: count for name, count in on_behalf.items() if count},
            checks=data["checks"],
            happened=data["happened"],
            uncounted=_uncounted(data),
        ),
        aliases={alias: name for alias, name in data["aliases"] if alias not in known},
        names_initcalls=data.get("names_initcalls", True),
    )


def _uncounted(data: dict[str, Any]) -> int:
    """What was executed, less what the counters of all places hold."""
    held = sum(row["by_address"] + row["floating"] for row in data["functions"])
    uncounted: int = data["executed"] - held - data.get("firmware", 0) - data.get("user", 0)
    return uncounted
