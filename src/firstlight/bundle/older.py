"""Bundles of schema 1 and 2, in the names of the present schema."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from firstlight.bundle.phase_bounds import INFERRED
from firstlight.schema.aliases import MARK_ALIASES, PHASE_ALIASES
from firstlight.schema.marks import PHASE_OF, Mark, Phase
from firstlight.schema.spans import SpanKind

#: The version of the schema that renamed fields of the manifest.
RENAMED_IN = 3

#: What the kernel prints before it runs an initramfs.
_RUNS_INITRAMFS = "Run /init "
_OLD_USERSPACE = "user_land"
_DEFERRED, _OLD_DEFERRED = "kernel.deferred_probe.", "device.deferred."
_SOURCE = {"given": "name", "understood": "parsed", "not_understood": "unparsed"}
_FIT = {"onto": "reference", "how": "basis", "shared": "shared_events"}


@dataclass(frozen=True)
class HandOver:
    """How a boot came from its initramfs to its root file system; the engine has the same rules (`hand_over.rs`)."""

    initramfs: bool
    """An initramfs handed over."""
    userspace_is_marked: bool
    """A mark says when the root file system's userspace began."""

    @classmethod
    def of(cls, marks: Iterable[tuple[str, str]]) -> HandOver:
        """That of a boot with these marks, each with its detail.

        >>> HandOver.of([("guest_start", ""), ("switch_root", "")])
        HandOver(initramfs=True, userspace_is_marked=False)
        """
        known = {MARK_ALIASES.get(mark, mark): detail for mark, detail in marks}
        manager = Mark.SYSTEMD_START in known or Mark.USERSPACE_START in known
        runs = known.get(Mark.USER_START, "").removeprefix(INFERRED).startswith(_RUNS_INITRAMFS)
        switched = Mark.SWITCH_ROOT in known or Mark.INITRAMFS_START in known
        return cls(switched or (runs and manager), Mark.USERSPACE_START in known)

    @classmethod
    def of_phases(cls, names: Collection[str]) -> HandOver:
        """That of a boot of which only the names of its phases are known.

        >>> HandOver.of_phases(["user_land", "initrd", "switch_root", "userspace"])
        HandOver(initramfs=True, userspace_is_marked=True)
        """
        handed = {Phase.SWITCH_ROOT, Phase.INITRAMFS, *_OLD_NAMES[Phase.INITRAMFS]}
        return cls(not handed.isdisjoint(names), Phase.USERSPACE in names)

    def present(self, phase: str) -> str:
        """The present name of a phase of any schema version.

        >>> HandOver.of([("guest_start", "")]).present("user_land")
        <Phase.USERSPACE: 'userspace'>
        """
        if phase == _OLD_USERSPACE:
            return Phase.INITRAMFS if self.initramfs else PHASE_OF[Mark.GUEST_START]
        if phase == Phase.SWITCH_ROOT and not self.userspace_is_marked:
            return Phase.USERSPACE
        return PHASE_ALIASES.get(phase, phase)


_OLD_NAMES = {new: {old for old, to in PHASE_ALIASES.items() if to == new} for new in PHASE_ALIASES.values()}


def may_change(phases: pl.Series) -> bool:
    """Whether any of these phases can have another name now.

    >>> may_change(pl.Series(["firmware", "user_land"])), may_change(pl.Series(["firmware"]))
    (True, False)
    """
    return bool(phases.is_in([*PHASE_ALIASES, Phase.SWITCH_ROOT]).any())


def phase_among(name: str, known: Collection[str]) -> str:
    """The phase that a user means by a name, which may be that of an earlier schema version.

    :param known: the names of the phases that there are.

    >>> phase_among("user_land", ["kernel", "userspace"]), phase_among("user_land", ["initramfs", "userspace"])
    ('userspace', 'initramfs')
    """
    return name if name in known else str(HandOver.of_phases(known).present(name))


def present_phase_calls(rows: pl.DataFrame, hand_over: HandOver) -> pl.DataFrame:
    """The table `phase_calls` with the present names."""
    names = {old: str(hand_over.present(old)) for old in rows["phase"].unique()}
    return rows.with_columns(pl.col("phase").replace(names))


def present_spans(spans: pl.DataFrame, hand_over: HandOver) -> pl.DataFrame:
    """The table `spans` with the present names; neighbouring phases of one name become one, as they are written now."""
    is_phase = pl.col("kind") == SpanKind.PHASE
    old = spans.filter(is_phase)["name"].unique()
    names = {name: str(hand_over.present(name)) for name in old}
    spans = spans.with_columns(pl.when(is_phase).then(pl.col("name").replace(names)).otherwise("name").alias("name"))
    replaced: dict[int, int] = {}
    joined: dict[int, dict[str, Any]] = {}
    last: dict[str, Any] | None = None
    for row in spans.filter(is_phase).sort("start_ns", "span").iter_rows(named=True):
        if last is None or row["name"] != last["name"] or row["start_ns"] != last["end_ns"]:
            last = dict(row)
            continue
        sums = {name: _sum(last[name], row[name]) for name in ("instructions", "idle_ns", "duration_ns")}
        last |= sums | {"end_ns": row["end_ns"]}
        replaced[row["span"]] = last["span"]
        joined[last["span"]] = last
    if not replaced:
        return spans
    changed = pl.DataFrame(list(joined.values()), schema=spans.schema)
    kept = spans.filter(~pl.col("span").is_in([*replaced])).update(changed, on="span", how="left", include_nulls=True)
    numbers = {span: place for place, span in enumerate(kept["span"].sort().to_list(), int(spans["span"].min() or 0))}  # type: ignore[arg-type]
    numbers |= {gone: numbers[into] for gone, into in replaced.items()}
    return kept.with_columns(pl.col("span", "parent").replace(numbers)).select(spans.columns)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def present_facts(facts: pl.DataFrame) -> pl.DataFrame:
    """The table `facts` with the present names; of a device that two records name, what the kernel says."""
    old = pl.col("fact").str.starts_with(_OLD_DEFERRED)
    if facts.filter(old).is_empty():
        return facts
    renamed = pl.col("fact").str.replace(_OLD_DEFERRED, _DEFERRED, literal=True)
    known = facts["fact"].implode()
    return (
        facts.filter(~(old & renamed.is_in(known)))
        .with_columns(pl.when(old).then(renamed).otherwise("fact").alias("fact"))
        .sort("fact")
    )


def present_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest of schema 1 or 2 with the names of the present fields; what is no such field stays.

    >>> present_manifest({"schema_version": 2, "repeat": "firstlight record -o a.boot"})
    {'schema_version': 2, 'reproduce': 'firstlight record -o a.boot'}
    """
    found = _renamed(manifest, {"repeat": "reproduce"})
    if isinstance(completeness := found.get("completeness"), dict):
        found["completeness"] = _renamed(completeness, {"understood": "parsed"})
    if isinstance(clock := found.get("clock"), dict) and isinstance(origin := clock.get("origin"), str):
        found["clock"] = clock | {"origin": MARK_ALIASES.get(origin, origin)}
    if isinstance(recipe := found.get("recipe"), dict) and recipe.get("ready") == "no-operation":
        found["recipe"] = recipe | {"ready": "instruction"}
    if isinstance(sources := found.get("sources"), list):
        found["sources"] = [_source(one) if isinstance(one, dict) else one for one in sources]
    if isinstance(rows := found.get("contradictions"), list):
        found["contradictions"] = [_renamed(one, {"what": "subject"}) if isinstance(one, dict) else one for one in rows]
    return found


def _source(source: dict[str, Any]) -> dict[str, Any]:
    found = _renamed(source, _SOURCE)
    if isinstance(fit := found.get("fit"), dict):
        found["fit"] = _renamed(fit, _FIT)
    if isinstance(part := found.get("part"), str) and part.endswith("host clock"):
        found["part"] = part.removesuffix("host clock") + "capture clock"
    return found


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in fields.items()}
