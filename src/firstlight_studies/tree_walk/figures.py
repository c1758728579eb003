"""The figures that decide the claims of 2009."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from firstlight.study import Figure, MissingValue, derived, value_text
from firstlight_studies.tree_walk.counts import Counted
from firstlight_studies.tree_walk.model import WalkModel
from firstlight_studies.tree_walk.penalty import Penalty
from firstlight_studies.tree_walk.traps import Audit, Point
from firstlight_studies.tree_walk.workload import Command

_LAPTOP = 53_934
_AS_GOOD = 2.0
"""Of Akaike's criterion: a model so near the best one is supported as well (Burnham and Anderson, 2002)."""
_NOT_ASKED = MissingValue("not asked for")


@dataclass(frozen=True)
class TreeWalkEvidence:
    """What the figures are computed from, on one file system: tmpfs where it is among them, as then."""

    penalties: Mapping[Command, Penalty | MissingValue] = field(default_factory=dict)
    counts: Mapping[Command, Counted | MissingValue] = field(default_factory=dict)
    law: WalkModel | MissingValue = _NOT_ASKED
    audit: Audit | MissingValue = _NOT_ASKED
    beside: Mapping[Command, Penalty | MissingValue] = field(default_factory=dict)
    """Penalties with the kernel of the other boots, where the first ones are with the distribution's."""
    kernel: str = "the lab's kernel"
    """Of the other boots, as a reader knows it."""


def figures_of(evidence: TreeWalkEvidence) -> dict[str, Figure]:
    """Every figure by its name in `claims.toml`."""
    return {
        **_of_penalty(evidence),
        **_of_model(evidence.law),
        **_of_counts(evidence.counts),
        **_of_points(evidence.audit),
        **_of_calls(evidence.audit),
    }


def _of_penalty(evidence: TreeWalkEvidence) -> dict[str, Figure]:
    def of(program: str, penalties: Mapping[Command, Penalty | MissingValue]) -> Penalty | MissingValue:
        named = (found for command, found in penalties.items() if command.name.startswith(program))
        return next(named, MissingValue(f"{program} was not run"))

    chgrp, beside = (of("chgrp", penalties) for penalties in (evidence.penalties, evidence.beside))
    return {
        "beside": f"; {evidence.kernel} {value_text(beside.relative, 'percent')}"
        if isinstance(beside, Penalty)
        else "",
        "kernel": evidence.kernel,
        "chgrp": derived(lambda found: found.relative, chgrp),
        "our-walk": derived(lambda found: found.relative, of("our walk", evidence.penalties)),
        "file-system": derived(lambda found: found.file_system, chgrp),
        "each-ns": derived(lambda found: round(found.each_ns), chgrp),
        "user": derived(lambda found: found.user_ns, chgrp),
        "system-share": derived(
            lambda found: found.system_ns / found.cost_ns if found.cost_ns > 0 else MissingValue("there is no penalty"),
            chgrp,
        ),
        "faults": derived(lambda found: found.faults, chgrp),
    }


def _of_model(model: WalkModel | MissingValue) -> dict[str, Figure]:
    fitted = model.penalty if isinstance(model, WalkModel) else model
    linear = derived(
        lambda study: next(
            (fit for fit in study.within(_AS_GOOD) if fit.law == "n"),
            MissingValue(f"the penalty follows the scaling model {study.law} ({study.certainty})"),
        ),
        fitted,
    )
    return {
        "linear": derived(lambda _: int(not isinstance(linear, MissingValue)), fitted),
        "law": derived(lambda study: study.law, fitted),
        "certainty": derived(lambda study: study.certainty, fitted),
        "slope": derived(lambda fit: round(fit.slope), linear),
        "laptop": derived(lambda fit: round(fit.constant + fit.slope * _LAPTOP), linear),
    }


def _of_counts(counts: Mapping[Command, Counted | MissingValue]) -> dict[str, Figure]:
    each: dict[str, Figure] = {}
    for program in ("chgrp", "chmod", "rm", "du", "find"):
        named = (found for command, found in counts.items() if command.program == program)
        found = next(named, MissingValue(f"{program} was not counted"))
        each[program] = derived(
            lambda counted: cast(
                "Figure",
                number
                if isinstance(number := counted.each(counted.stats)[0], int)
                else MissingValue("the tree is too small for the stat calls of each directory"),
            ),
            found,
        )
    more = derived(lambda *n: min(n[3:]) - max(n[:3]), *each.values())
    text = derived(
        lambda *n: ", ".join(f"{name} {number}" for name, number in zip(each, n, strict=True)), *each.values()
    )
    return {"find-du-more": more, "stats": text}


def _of_points(audit: Audit | MissingValue) -> dict[str, Figure]:
    def counted(wanted: str) -> Figure:
        def count(audit: Audit) -> int:
            mounts = [point for point in audit.points if point.kind is not None and point.differs is not None]
            found: dict[str, list[Point]] = {
                "points": mounts,
                "points-differ": [point for point in mounts if point.differs],
                "points-known-by-statx": [point for point in mounts if point.mount_root],
                "files-differ": [point for point in audit.points if point.kind is None and point.differs],
            }
            return len(found[wanted])

        return derived(count, audit)

    figures = {name: counted(name) for name in ("points", "points-differ", "points-known-by-statx", "files-differ")}
    share = derived(
        lambda differ, of: differ / of if of else MissingValue("the audit found no mount point"),
        figures["points-differ"], figures["points"],
    )  # fmt: skip
    return {**figures, "listing-differs": share}


def _of_calls(audit: Audit | MissingValue) -> dict[str, Figure]:
    opened = derived(
        lambda audit: audit.wake("call opendir") or MissingValue("no directory was opened on an automount"), audit
    )
    tried = derived(
        lambda audit: (
            audit
            if all(audit.wake(f"call {name}") for name in ("stat", "lstat", "fstatat", "open"))
            else MissingValue("the calls were not tried")
        ),
        audit,
    )
    woken = derived(
        lambda audit: [
            wake.name.removeprefix("call ") for wake in audit.wakes if wake.name.startswith("call ") and wake.woken
        ],
        tried,
    )
    return {
        "changed-under": derived(lambda wake: int(wake.before != wake.after), opened),
        "before": derived(lambda wake: wake.before, opened),
        "after": derived(lambda wake: wake.after, opened),
        "stat-asleep": derived(
            lambda calls: int("open" in calls and not {"stat", "lstat", "fstatat"} & {*calls}), woken
        ),
        "triggering": derived(lambda calls: ", ".join(calls) or "none", woken),
        "statx": derived(
            lambda calls: (
                "statx is the exception: it mounts unless AT_NO_AUTOMOUNT is given." if "statx" in calls else ""
            ),
            woken,
        ),
    }
