"""What a fleet stores of one boot: a row of the boot, and a row for each of its parts by kind and name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern, Manifest
from firstlight.bundle.phase_bounds import unsure_ns
from firstlight.bundle.reliability import unreliable_text
from firstlight.errors import BundleError
from firstlight.fleet.boot_digests import manifest_digest
from firstlight.fleet.columns import BOUND, CAUSE, LOOKED_FOR, PROCESS, SPANS
from firstlight.fleet.masking import IDENTIFYING_FACTS, mask_column, masked, names_said, names_within, without
from firstlight.schema.spans import SpanKind

#: The facts that become attributes, in order of preference; none of them names a machine.
FACTS: dict[str, tuple[str, ...]] = {
    "model": (
        "system.product",
        "system.model",
        "dmi.product",
        "device_tree.model",
        "system.board",
        "dmi.board",
        "cpu.model",
    ),
    "vendor": ("system.vendor", "system.manufacturer", "dmi.vendor"),
    "firmware": ("firmware.version", "dmi.bios_version"),
    "kernel": ("kernel.release", "system.release"),
    "system": ("system.os",),
}
FACT_NAMES = [*IDENTIFYING_FACTS, "system.architecture", *(fact for known in FACTS.values() for fact in known)]
"""The facts that are looked at."""
#: What firmware says whose maker left the field as it was, without dots.
_EMPTY = frozenset({
    "to be filled by oem", "default string", "system product name", "system manufacturer", "system version",
    "not specified", "not applicable", "none", "unknown", "oem", "empty", "base board product name", "undefined",
})  # fmt: skip
_OF_VERSIONS = ("kernel", "system")
"""Attributes in which a long number is a version, and names no machine."""
_KINDS = (SpanKind.PHASE, SpanKind.INITCALL, SpanKind.PROBE, SpanKind.UNIT)
_SPAN_COLUMNS = ("name", "start_ns", "duration_ns", "instructions")
_LONGEST = 200
#: No time of a boot is longer: the sums of a million boots stay whole numbers.
_LONGEST_NS = 10**16


@dataclass(frozen=True)
class BootRows:
    """The rows of one boot."""

    boot: dict[str, Any]
    spans: pl.DataFrame


def boot_rows(
    boot: Boot,
    attributes: Mapping[str, str],
    *,
    keeps_identities: bool = False,
    finds_causes: bool = False,
    digest: str | None = None,
) -> BootRows:
    """The rows of a boot.

    :param attributes: what is said of the boot besides; it counts before what its facts say.
    :param keeps_identities: leave names as they are.
    :param finds_causes: look for the causes of the catalogue.
    :param digest: :func:`firstlight.fleet.boot_digests.manifest_digest` of the bundle, where it is known.
    :raises BundleError: when a table is damaged, or nothing shows how long the boot took.
    """
    length_ns = window(boot).length_ns
    if not is_length(length_ns):
        hint = "a fleet needs boots with at least two marks"
        raise BundleError("the duration of this boot is unknown", where=str(boot.directory), hint=hint)
    facts = _facts(boot)
    names = None if keeps_identities else [*names_of_machine(facts), *names_said(boot.log())["said"].unique()]
    row = boot_row(digest or manifest_digest(boot.directory), boot.manifest, length_ns, facts, attributes, names)
    spans = pl.concat([parts_of_spans(boot.spans()), _processes(boot), bounds_of_spans(boot.spans(), length_ns)])
    if names is not None:
        spans = mask_column(spans, "name", names)
    if finds_causes:
        spans = pl.concat([spans, _causes(boot)])
    return BootRows(row, merged(spans.with_columns(pl.lit(row["boot"], dtype=pl.Int64).alias("boot"))))


def is_length(length_ns: int) -> bool:
    """Whether a boot can have taken so long."""
    return 0 < length_ns < _LONGEST_NS


def boot_row(
    digest: str,
    manifest: Manifest,
    length_ns: int,
    facts: Mapping[str, str],
    attributes: Mapping[str, str],
    names: Sequence[str] | None,
) -> dict[str, Any]:
    """The row of a boot.

    :param digest: :func:`firstlight.fleet.boot_digests.manifest_digest` of its bundle.
    :param facts: those of :data:`FACT_NAMES` that it has.
    :param names: what names its machine; with none, all is stored as it is.
    """
    missing = "; ".join(manifest.completeness.missing) or unreliable_text(manifest, Concern.EVERYTHING)
    row = {
        "boot": int(digest[:16], 16) >> 1,
        "digest": digest,
        "day": manifest.recorded_at[:10] if _is_day(manifest.recorded_at) else "unknown",
        "mode": manifest.mode,
        "status": manifest.status,
        "total_ns": length_ns,
        "instructions": manifest.totals.instructions,
        "missing": missing or None,
    }
    row["architecture"] = getattr(manifest.recipe, "architecture", None) or facts.get("system.architecture")
    for name, known in FACTS.items():
        said = (facts[fact][:_LONGEST].strip() for fact in known if fact in facts)
        text = next((text for text in said if text and text.lower().replace(".", "") not in _EMPTY), None)
        if text is not None and names is not None:
            own = names_within(names, [text])
            text = without(text, own) if name in _OF_VERSIONS else masked(text, own)
        row[name] = text
    return row | dict(attributes)


def names_of_machine(facts: Mapping[str, str]) -> list[str]:
    """What a boot calls its machine, in full and without a domain."""
    known = [facts[name] for name in IDENTIFYING_FACTS if name in facts]
    return [text for whole in known for text in {whole, whole.partition(".")[0]}]


def merged(spans: pl.DataFrame) -> pl.DataFrame:
    """Parts of boots, those of one name added up.

    Few names occur twice in a boot. Numbers made of boot, kind and name find those, in a quarter of the time that
    adding up takes; rows that differ and have one number after all are added up by their texts, too.
    """
    number = pl.col("boot").hash() ^ pl.col("kind").hash(1) ^ pl.col("name").hash(2)
    again = spans.select(number.is_duplicated()).to_series()
    once = spans.filter(~again).with_columns(pl.col("instructions").fill_null(0), occurrences=pl.lit(1))
    groups = spans.filter(again).group_by("boot", "kind", "name")
    sums = groups.agg(
        pl.col("start_ns").min(),
        pl.col("duration_ns").sum(),
        pl.col("instructions").sum(),
        pl.len().alias("occurrences"),
    )
    return pl.concat([rows.select(list(SPANS)).cast(SPANS) for rows in (once, sums)])  # type: ignore[arg-type]


def parts_of_spans(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans that a fleet stores; where there is a column `boot`, it stays."""
    wanted = pl.col("kind").is_in([str(kind) for kind in _KINDS])
    timed = pl.col("duration_ns").is_between(0, _LONGEST_NS)
    columns = [name for name in ("boot",) if name in spans.columns]
    return spans.filter(wanted & timed).select(
        *columns, "kind", pl.col("name").str.slice(0, _LONGEST), "start_ns", "duration_ns", "instructions"
    )


def bounds_of_spans(spans: pl.DataFrame, length_ns: int | pl.Expr) -> pl.DataFrame:
    """How far phases may be off, as rows of parts; what nothing bounds is at most off by the whole boot.

    :param spans: where there is a column `boot`, it stays.
    :param length_ns: the duration of the boot.
    """
    phases = spans.filter(pl.col("kind") == SpanKind.PHASE).with_columns(unsure_ns())
    nothing = pl.lit(None, dtype=pl.Int64)
    off = pl.min_horizontal(pl.col("unsure_ns").fill_null(length_ns), pl.lit(_LONGEST_NS)).cast(pl.Int64)
    columns = [name for name in ("boot",) if name in spans.columns]
    rows = phases.select(
        *columns, pl.lit(BOUND).alias("kind"), pl.col("name").str.slice(0, _LONGEST), nothing.alias("start_ns"),
        off.alias("duration_ns"), nothing.alias("instructions"),
    )  # fmt: skip
    return rows.filter(pl.col("duration_ns") > 0)


def _facts(boot: Boot) -> dict[str, str]:
    found = boot.facts().filter(pl.col("fact").is_in(FACT_NAMES)).select("fact", "value").drop_nulls()
    return {fact: value for fact, value in found.iter_rows() if value}


def _processes(boot: Boot) -> pl.DataFrame:
    schema = {name: kind for name, kind in SPANS.items() if name in ("kind", *_SPAN_COLUMNS)}
    if "processes" not in boot.manifest.tables:
        return pl.DataFrame(schema=schema)
    from firstlight.analysis.processes.identity import process_names_of
    from firstlight.analysis.processes.processes import processes

    names = process_names_of(boot)
    rows = processes(boot).select("process", "start_ns", "cpu_ns", "instructions").drop_nulls("cpu_ns")
    programs = [names[number].program[:_LONGEST] if number in names else "?" for number in rows["process"]]
    return rows.select(
        pl.lit(PROCESS).alias("kind"), pl.Series("name", programs, dtype=pl.String), "start_ns",
        pl.col("cpu_ns").alias("duration_ns"), "instructions",
    ).cast(schema)  # type: ignore[arg-type] # fmt: skip


def _causes(boot: Boot) -> pl.DataFrame:
    from firstlight.advise.findings import explain

    found = explain(boot)
    rows = {LOOKED_FOR: 0} | {each.entry.id: each.cost.system_ns for each in (*found.findings, *found.features)}
    return pl.DataFrame(
        {"kind": [CAUSE] * len(rows), "name": list(rows), "start_ns": None, "duration_ns": list(rows.values()),
         "instructions": None},
        schema={name: kind for name, kind in SPANS.items() if name in ("kind", *_SPAN_COLUMNS)},
    )  # fmt: skip


def _is_day(text: str) -> bool:
    return len(text) >= 10 and text[:10].replace("-", "").isdigit() and text[4] == text[7] == "-"
