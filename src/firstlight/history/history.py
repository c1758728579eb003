"""A history: what boots took, in order, in one DuckDB file; or a folder of bundles."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
from pydantic import ValidationError

from firstlight.bundle.boot import Boot
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.older import HandOver
from firstlight.comparison.boot_figures import Sample, take_sample
from firstlight.comparison.testbed import Testbed, describe_testbed
from firstlight.errors import FirstlightError, UnhealthyBootError, UsageError
from firstlight.escape import printable
from firstlight.history.measures import inputs_of, measures_of
from firstlight.quantities import joined
from firstlight.schema.aliases import PHASE_ALIASES
from firstlight.schema.marks import Phase

SCHEMA = """
CREATE TABLE about (format VARCHAR);
INSERT INTO about VALUES ('firstlight history 1');
CREATE TABLE boots (
    number INTEGER PRIMARY KEY, label VARCHAR, boot VARCHAR, mode VARCHAR, testbed VARCHAR, manifest_sha256 VARCHAR,
    inputs VARCHAR, recorded_at VARCHAR, added_at VARCHAR, missing VARCHAR,
    recipe_key VARCHAR
);
CREATE TABLE measures (number INTEGER, kind VARCHAR, name VARCHAR, ns BIGINT);
"""

FORMAT = "firstlight history 1"

#: What was measured, with the present names of phases; neighbours that have one name now are added up.
_PRESENT_MEASURES = """
CREATE TEMP VIEW present_measures AS
SELECT number, kind, coalesce(present, name) AS name, CAST(sum(ns) AS BIGINT) AS ns
FROM measures LEFT JOIN (SELECT number, name, present, 'phase' AS kind FROM present_names) USING (number, kind, name)
GROUP BY ALL
"""


@dataclass(frozen=True)
class Added:
    """What came into a history."""

    boots: int
    known: tuple[str, ...]
    """Boots that were in it already, and were left out."""
    incomplete: tuple[str, ...] = ()
    """Boots that lack a part of their evidence, each with what it is."""


class History:
    """An open history.

    Tables, for whoever reads the file by DuckDB: `boots` (a row for each, in order; `label` is the commit) and
    `measures` (`number` of the boot, `kind` of `total`, `phase`, `function`, `name`, nanoseconds; functions by self).
    Of kind `phase_bound` is how far the time of a phase may be off.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, where: str) -> None:
        self._connection = connection
        self._where = where
        self.unordered: str | None = None
        """Why the order of the boots is not that of their recording; none where it is, or where the user added them."""
        with duckdb_errors(where):
            connection.execute("CREATE TEMP TABLE present_names (number INTEGER, name VARCHAR, present VARCHAR)")
            connection.execute(_PRESENT_MEASURES)
        self.failed: tuple[str, ...] = ()
        """Boots of a folder that have no time, each with its name and the reason."""
        self.newest_failed = False
        """Whether the last of them was recorded after all other boots."""
        self._resolve_names()

    def _resolve_names(self) -> None:
        """Note which phases have another name now, of each boot that an earlier version added."""
        old = [*PHASE_ALIASES, Phase.SWITCH_ROOT]
        phases: dict[int, list[str]] = {}
        for row in self._rows(
            "SELECT number, name FROM measures WHERE kind = 'phase' AND number IN "
            "(SELECT number FROM measures WHERE kind = 'phase' AND name IN (SELECT unnest(?)))", [old],
        ):  # fmt: skip
            phases.setdefault(row["number"], []).append(row["name"])
        for number, names in phases.items():
            over = HandOver.of_phases(names)
            for name in names:
                with duckdb_errors(self._where):
                    named = [number, name, str(over.present(name))]
                    self._connection.execute("INSERT INTO present_names VALUES (?, ?, ?)", named)

    def add(self, boots: Sequence[Boot], at: str) -> Added:
        """Add boots under a commit or label; several under one are samples of it.

        What a broken invariant concerns counts as evidence that the boot lacks; its functions are then not stored. All
        boots are added, or none.

        :raises UsageError: for a label that is empty or too long.
        :raises UnhealthyBootError: for boots that did not come up, or none of whose figures is reliable.
        """
        if not at.strip() or len(at) > 200:
            raise UsageError("a label must have 1 to 200 characters", where="--at", hint="give the commit, or a name")
        samples = _healthy_samples(boots)
        known, added, incomplete = [], 0, []
        with duckdb_errors(self._where), self._transaction():
            for boot, sample in samples:
                digest = sample.manifest_sha256
                if self._one("SELECT count(*) FROM boots WHERE manifest_sha256 = ? AND label = ?", [digest, at]):
                    known.append(str(boot.directory))
                    continue
                missing = [
                    *sample.missing, *(f"reliable {what.value}: {text}" for what, text in sample.unreliable.items())
                ]  # fmt: skip
                self._insert(boot, sample, at, missing)
                incomplete += [f"{boot.directory.name}: {reason}" for reason in missing]
                added += 1
        return Added(added, tuple(known), tuple(incomplete))

    def _insert(self, boot: Boot, sample: Sample, at: str, missing: Sequence[str]) -> None:
        number = int(self._one("SELECT coalesce(max(number), 0) + 1 FROM boots", []))
        bed = json.dumps(describe_testbed(boot).model_dump(mode="json"), sort_keys=True)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        inputs = json.dumps(inputs_of(boot, sample))
        row = [number, at, boot.directory.name, boot.manifest.mode, bed, sample.manifest_sha256, inputs,
               sample.recorded_at, now, "; ".join(missing) or None, key_of_boot(boot.manifest)]  # fmt: skip
        with tempfile.TemporaryDirectory() as directory:
            # One file instead of thousands of single rows.
            path = Path(directory) / "measures.parquet"
            measures_of(boot, sample, number).write_parquet(path)
            self._connection.execute("INSERT INTO boots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._connection.execute("INSERT INTO measures SELECT * FROM read_parquet(?)", [str(path)])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Everything is stored, or nothing."""
        self._connection.begin()
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    def boots(self) -> list[dict[str, Any]]:
        """Every boot in order, with `total_ns`.

        :raises FirstlightError: for a boot whose row was damaged.
        """
        rows = self._rows(
            "SELECT boots.*, ns AS total_ns FROM boots LEFT JOIN measures USING (number) WHERE kind = 'total' "
            "ORDER BY number", [],
        )  # fmt: skip
        damaged = next((row["number"] for row in rows if row["total_ns"] is None or row["total_ns"] <= 0), None)
        if damaged is not None:
            raise self._damaged(damaged, "time of total")
        return [row | {"testbed": self._present_testbed(row), "inputs": self._checked_inputs(row)} for row in rows]

    def names(self, kind: str) -> list[str]:
        """What is measured of a kind."""
        rows = self._rows("SELECT DISTINCT name FROM present_measures WHERE kind = ? ORDER BY name", [kind])
        return [row["name"] for row in rows]

    def values(self, kind: str, name: str) -> dict[int, int]:
        """The nanoseconds of one series, by the number of the boot.

        :raises FirstlightError: for one that is missing, or below 0.
        """
        rows = self._rows("SELECT number, ns FROM present_measures WHERE kind = ? AND name = ?", [kind, name])
        damaged = next((row["number"] for row in rows if row["ns"] is None or row["ns"] < (kind == "total")), None)
        if damaged is not None:
            raise self._damaged(damaged, f"time of {name}")
        return {row["number"]: row["ns"] for row in rows}

    def measured(self, kind: str) -> set[int]:
        """The numbers of the boots of which anything of a kind is stored."""
        return {row["number"] for row in self._rows("SELECT DISTINCT number FROM measures WHERE kind = ?", [kind])}

    def changing(self, kind: str, numbers: Sequence[int], least_ns: int) -> list[str]:
        """The names of a kind that differ by at least so many nanoseconds between any two of some boots."""
        rows = self._rows(
            "SELECT name FROM present_measures WHERE kind = ? AND number IN (SELECT unnest(?)) GROUP BY name "
            "HAVING max(ns) - CASE WHEN count(*) < ? THEN 0 ELSE min(ns) END >= ? ORDER BY name",
            [kind, list(numbers), len(numbers), least_ns],
        )
        return [row["name"] for row in rows]

    def _present_testbed(self, row: Mapping[str, Any]) -> str:
        """The testbed of a boot as the history stores it, with the present names of marks."""
        try:
            bed = Testbed.model_validate_json(row["testbed"] or "").in_present_words()
        except ValidationError as error:
            raise self._damaged(row["number"], "testbed") from error
        return json.dumps(bed.model_dump(mode="json"), sort_keys=True)

    def _checked_inputs(self, row: Mapping[str, Any]) -> str:
        try:
            is_table = isinstance(json.loads(row["inputs"] or ""), dict)
        except (ValueError, RecursionError):
            is_table = False
        if not is_table:
            raise self._damaged(row["number"], "inputs")
        return str(row["inputs"])

    def _damaged(self, number: int, lacks: str) -> FirstlightError:
        message = f"the history is damaged: boot {number} has no {lacks}"
        return FirstlightError(message, where=self._where, hint="add its boots to a new history")

    def _one(self, statement: str, values: list[Any]) -> Any:
        with duckdb_errors(self._where):
            found = self._connection.execute(statement, values).fetchone()
        return None if found is None else found[0]

    def _rows(self, statement: str, values: list[Any]) -> list[dict[str, Any]]:
        with duckdb_errors(self._where):
            cursor = self._connection.execute(statement, values)
            names = [column[0] for column in cursor.description or []]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _healthy_samples(boots: Sequence[Boot]) -> list[tuple[Boot, Sample]]:
    """The figures of boots.

    :raises UnhealthyBootError: for those that have no reliable figures.
    """
    samples = [(boot, take_sample(boot)) for boot in boots]
    failed = [(boot, sample) for boot, sample in samples if not sample.healthy]
    if not failed:
        return samples
    boot, sample = failed[0]
    if len(boots) == 1:
        message = f"this boot has no time to store: {sample.unhealthy_text}"
        raise UnhealthyBootError(message, where=str(boot.directory))
    names = joined([f"`{printable(each.directory.name, 100)}`" for each, _ in failed], 5)
    have = "has" if len(failed) == 1 else "have"
    message = f"{len(failed)} of {len(boots)} boots {have} no time to store, and none was added: {names}"
    raise UnhealthyBootError(f"{message}; {sample.unhealthy_text}", where=str(boot.directory.parent),
                             hint=f"leave {names} out")  # fmt: skip


@contextmanager
def duckdb_errors(where: str) -> Iterator[None]:
    """Raise errors of DuckDB as those of Firstlight."""
    try:
        yield
    except duckdb.Error as error:
        text = str(error).partition("\n")[0][:300]
        # An error of a damaged file may speak of its blocks.
        locked = re.search(r"\block\b", text.lower()) is not None
        hint = (
            "wait until the other one has ended" if locked else "a history is a file that `firstlight history add` made"
        )
        raise FirstlightError(f"the history cannot be used: {text}", where=where, hint=hint) from error
