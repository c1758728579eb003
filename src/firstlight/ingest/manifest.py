"""The manifest of an imported boot, and what it takes to write one."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firstlight import _core
from firstlight.bundle.manifest import (
    SCHEMA_VERSION,
    BootState,
    Clock,
    Completeness,
    Contradiction,
    Failure,
    Fit,
    Manifest,
    Source,
    SourceProblem,
    Statement,
    Tool,
    Totals,
)
from firstlight.bundle.writer import describe_tables, write_manifest
from firstlight.ingest.files.collected import Gathered
from firstlight.ingest.files.names import readable, shell_line
from firstlight.recipe.described import Described
from firstlight.recipe.mode import RecordMode
from firstlight.schema.records import ClockKind, FailureReason
from firstlight.version import VERSION

#: A manifest names no more reasons than this; the sources have them all.
_MISSING = 50
_TAIL = 20
_PANIC = "Kernel panic - not syncing"


def sources(gathered: Gathered, outcomes: Sequence[dict[str, Any]], summary: dict[str, Any]) -> list[Source]:
    """Every record of an import, what was read of it first, then what was not recognised."""
    known = {item.file: item for item in gathered.items}
    listed = []
    for source in summary["sources"]:
        item = known[source["file"]]
        fit = None if source["fit"] is None else Fit(**source["fit"])
        problems = [SourceProblem(**problem) for problem in source["problems"]]
        if item.file in gathered.damaged:
            problems.append(SourceProblem(kind="cut", detail=gathered.damaged[item.file], line=None, lost=None))
        listed.append(
            Source(
                file=item.file, name=item.given, sha256=item.sha256, size_bytes=item.size_bytes,
                format=source["format"], part=source["part"], clock=source["clock"], fit=fit,
                parsed=source["parsed"], unparsed=source["unparsed"], problems=problems,
            )
        )  # fmt: skip
    failed = [(item, outcome["error"]) for item, outcome in zip(gathered.items, outcomes, strict=True)]
    for item, why in failed + gathered.unread:
        if why is not None:
            problem = SourceProblem(kind="unrecognised", detail=why, line=None, lost=None)
            listed.append(
                Source(
                    file=item.file, name=item.given, sha256=item.sha256, size_bytes=item.size_bytes, format=None,
                    part="", clock=ClockKind.UNTIMED, fit=None, parsed=0, problems=[problem],
                )
            )  # fmt: skip
    return listed


@dataclass(frozen=True)
class Known:
    """What the records of a boot do not say, and who captured it knows."""

    recipe: Described = field(default_factory=Described)
    digests: Mapping[str, str | None] = field(default_factory=dict)
    """Of what was booted."""
    never_ready: str | None = None
    """Why the boot did not become ready."""


def finish_bundle(
    bundle: Path,
    gathered: Gathered,
    outcomes: Sequence[dict[str, Any]],
    summary: dict[str, Any],
    words: Sequence[str],
    known: Known,
    given: Sequence[str] = (),
) -> Manifest:
    """Write the manifest of a bundle whose tables are written.

    :param words: the command line that makes it again.
    :param given: what the user named: a file of it that no reader reads may hold evidence.
    :param known: what the records do not say.
    """
    not_taken = gathered.missing() + list(_not_read(gathered, outcomes, given))
    missing = summary["missing"] + not_taken
    reasons = missing[:_MISSING]
    if len(missing) > _MISSING:
        reasons.append(f"{len(missing) - _MISSING} more reasons; the sources list them")
    failure = _panic(bundle)
    never_ready = known.never_ready or summary["unmatched_ready"]
    if failure is None and never_ready is not None:
        import polars as pl  # loaded late: most imports need no frames

        lines = pl.scan_parquet(bundle / "log.parquet").select("text").tail(_TAIL).collect()["text"].to_list()
        failure = Failure(reason=FailureReason.NEVER_READY, detail=never_ready, console_tail=lines)
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        tool=Tool(name="firstlight", version=VERSION),
        mode=RecordMode.IMPORTED,
        status=BootState.COMPLETE if failure is None else BootState.FAILED,
        failure=failure,
        clock=Clock(kind=ClockKind.IMPORTED, unit="ns", origin=summary["origin"]),
        recipe=known.recipe,
        digests=dict(known.digests),
        versions={},
        completeness=Completeness(
            complete=not missing,
            missing=reasons,
            parsed=summary["parsed"],
            lost=summary["lost"],
            share=None if not_taken else summary["share"],
        ),
        invariants={},
        totals=Totals(instructions=None, virtual_ns=summary["length_ns"], idle_ns=None),
        sources=sources(gathered, outcomes, summary),
        contradictions=[
            Contradiction(subject=found["subject"], statements=[Statement(**one) for one in found["statements"]])
            for found in summary["contradictions"]
        ],
        tables=describe_tables(bundle),
        reproduce=shell_line(words),
        recorded_at=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        host={},
    )
    write_manifest(bundle, manifest)
    return manifest


def _not_read(gathered: Gathered, outcomes: Sequence[dict[str, Any]], given: Sequence[str]) -> Iterator[str]:
    """Why a record was not read, of those that hold evidence: a reader knew it, or the user named it as a record.

    What no reader knows in a folder or an archive may be anything: it is kept, and named among the sources.
    """
    for item, outcome in zip(gathered.items, outcomes, strict=True):
        named = item.given in {readable(name) for name in given} and "/" not in item.file
        if outcome["error"] is not None and (named or outcome["kind"] != "unrecognised"):
            yield f"{item.file}: {outcome['error']}"


def _panic(bundle: Path) -> Failure | None:
    """The failure of a boot whose log ends in a panic."""
    lines = _core.lines_until(str(bundle), _PANIC, _TAIL)
    return None if lines is None else Failure(reason=FailureReason.PANIC, detail=lines[-1], console_tail=lines)
