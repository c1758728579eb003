"""What was concluded in 2009, held against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from firstlight.study import Finding, MissingValue, Verdict, time_text, verdict
from firstlight_studies.tree_walk.counts import Counted
from firstlight_studies.tree_walk.model import WalkModel
from firstlight_studies.tree_walk.penalty import Penalty
from firstlight_studies.tree_walk.traps import Audit
from firstlight_studies.tree_walk.workload import Command

#: The smallest penalty that was told then, and the least that a person would still notice.
_THEN_RELATIVE = 0.17
_HELD_FROM = 0.05
#: So much of the penalty in the kernel is "in the kernel".
_MOSTLY = 0.8
_LAPTOP = 53_934
_LAPTOP_NS = 43_000_000
_AS_GOOD = 2.0
"""Of Akaike's criterion: a law so near the best one is supported as well (Burnham and Anderson, 2002)."""


@dataclass(frozen=True)
class Evidence:
    """What findings are computed from; what is not there leaves them open."""

    penalties: Mapping[Command, Penalty | MissingValue] = field(default_factory=dict)
    """On tmpfs, as then."""
    counts: Mapping[Command, Counted | MissingValue] = field(default_factory=dict)
    law: WalkModel | MissingValue = field(default_factory=lambda: MissingValue("no law was asked for"))
    audit: Audit | MissingValue = field(default_factory=lambda: MissingValue("no audit was asked for"))


def findings_of(evidence: Evidence) -> tuple[Finding, ...]:
    """Every conclusion, with its figure and what became of it."""
    return tuple(
        _judged(claim, then, judge, evidence)
        for claim, then, judge in (
            ("One more stat for each directory makes a recursive chgrp noticeably more expensive.",
             "+23.5 %; 17 to 25 % repeated", _dearer),
            ("The kernel takes nearly all of it; user time stays.", "user 0.03 s and 0.03 s, system 0.31 s and 0.38 s",
             _in_kernel),
            ("It costs no memory: as many page faults either way.", "about 235 minor faults either way", _no_faults),
            ("It is the same for each directory, so all directories of a laptop cost little.",
             "0.814 µs each, 53,934 directories: 43 ms", _linear),
            ("Only find and du pay for it; chgrp, chmod and rm do not.", "the rule of coreutils 8.1", _who_pays),
            ("A listing gives a mount point the inode of the directory that it covers.",
             "all systems but a few", _listing_lies),
            ("Opening a directory may mount something on it, so the earlier stat described another one.",
             "the reason for the extra stat", _changes_under),
            ("A stat does not trigger an automount; opening it does.", "Linux, stat and open",
             _stat_sleeps),
        )
    )  # fmt: skip


@dataclass(frozen=True)
class _Judgement:
    verdict: Verdict
    now: str
    why: str = ""


_Judge = Callable[[Evidence], _Judgement]


def _judged(claim: str, then: str, judge: _Judge, evidence: Evidence) -> Finding:
    judgement = judge(evidence)
    return Finding(claim, then, judgement.now, judgement.verdict, judgement.why)


def _open(reason: str) -> _Judgement:
    return _Judgement("not testable here", reason)


def _penalty(evidence: Evidence, program: str) -> Penalty | MissingValue:
    return next(
        (found for command, found in evidence.penalties.items() if command.name.startswith(program)),
        MissingValue(f"{program} was not run"),
    )


def _dearer(evidence: Evidence) -> _Judgement:
    penalty = _penalty(evidence, "chgrp")
    if isinstance(penalty, MissingValue):
        return _open(penalty.reason)
    ours = _penalty(evidence, "our walk")
    now = f"chgrp {penalty.relative:+.1%}"
    if isinstance(ours, Penalty):
        now += f", our walk {ours.relative:+.1%}"
    now += f" on {penalty.file_system}"
    held = penalty.relative >= _HELD_FROM
    if not held:
        return _Judgement("no longer holds", now, "the further stat is lost in what the walk costs otherwise")
    if penalty.relative >= _THEN_RELATIVE:
        return _Judgement("holds", now)
    why = "the direction holds, with a smaller figure: a stat costs less than then, compared with the rest of a walk"
    return _Judgement("holds", now, why)


def _in_kernel(evidence: Evidence) -> _Judgement:
    penalty = _penalty(evidence, "chgrp")
    if isinstance(penalty, MissingValue):
        return _open(penalty.reason)
    if penalty.cost_ns <= 0:
        return _Judgement("no longer holds", "there is no penalty")
    share = penalty.system_ns / penalty.cost_ns
    now = f"{share:.1%} of the penalty is system time; user time {penalty.user_ns / 1000:+,.1f} µs"
    return _Judgement(verdict(share >= _MOSTLY), now)


def _no_faults(evidence: Evidence) -> _Judgement:
    penalty = _penalty(evidence, "chgrp")
    if isinstance(penalty, MissingValue):
        return _open(penalty.reason)
    return _Judgement(verdict(penalty.faults == 0), f"{penalty.faults:+} minor faults")


def _linear(evidence: Evidence) -> _Judgement:
    law = evidence.law
    fitted = law.penalty if isinstance(law, WalkModel) else law
    if isinstance(fitted, MissingValue):
        return _open(fitted.reason)
    linear = next((fit for fit in fitted.within(_AS_GOOD) if fit.law == "n"), None)
    if linear is None:
        return _Judgement("no longer holds", f"the penalty follows the law {fitted.law} ({fitted.certainty})")
    how = fitted.certainty if fitted.law == "n" else f"as good as {fitted.law}"
    whole = round(linear.constant + linear.slope * _LAPTOP)
    now = f"law n, {how}; {linear.slope:,.0f} ns each in exact mode, {_LAPTOP:,} directories: {time_text(whole)}"
    why = "linear as then; the figure is in instructions at one nanosecond each, not in seconds of a laptop"
    # Ten times as much would be another story, whatever the clock.
    return _Judgement(verdict(whole < 10 * _LAPTOP_NS), now, why)


def _who_pays(evidence: Evidence) -> _Judgement:
    each: dict[str, int] = {}
    for program in ("chgrp", "chmod", "rm", "du", "find"):
        found = next(
            (f for c, f in evidence.counts.items() if c.program == program), MissingValue(f"{program} was not counted")
        )
        if isinstance(found, MissingValue):
            return _open(found.reason)
        number = found.each(found.stats)[0]
        if not isinstance(number, int):
            return _open(f"the tree is too small to tell the stat calls of {program} for each directory")
        each[program] = number
    few = {each[program] for program in ("chgrp", "chmod", "rm")}
    many = {each[program] for program in ("du", "find")}
    held = max(few) < min(many)
    now = "stat calls for each directory: " + ", ".join(f"{program} {number}" for program, number in each.items())
    return _Judgement(verdict(held), now, "" if held else "the programs' walks have changed since")


def _listing_lies(evidence: Evidence) -> _Judgement:
    audit = evidence.audit
    if isinstance(audit, MissingValue):
        return _open(audit.reason)
    points = [point for point in audit.points if point.kind is not None and point.differs is not None]
    if not points:
        return _open("the audit found no mount point")
    lying = [point for point in points if point.differs]
    plain = [point for point in audit.points if point.kind is None and point.differs]
    bound = [point for point in lying if point.device == point.parent_device]
    told = [point for point in points if point.mount_root]
    now = f"another inode at {len(lying)} of {len(points)} mount points"
    now += f", {len(bound)} of them on the same device as their directory" if bound else ""
    now += f"; and at {len(plain)} plain files" if plain else ""
    why = f"statx now reports {len(told)} of them as mount points, which a listing still cannot do" if told else ""
    return _Judgement(verdict(2 * len(lying) > len(points)), now, why)


def _changes_under(evidence: Evidence) -> _Judgement:
    audit = evidence.audit
    wake = audit.wake("call opendir") if isinstance(audit, Audit) else None
    if wake is None:
        return _open(audit.reason if isinstance(audit, MissingValue) else "no directory was opened on an automount")
    now = f"device and inode {wake.before} before the opening, {wake.after} after it"
    return _Judgement(verdict(wake.before != wake.after), now)


def _stat_sleeps(evidence: Evidence) -> _Judgement:
    audit = evidence.audit
    if isinstance(audit, MissingValue):
        return _open(audit.reason)
    stats = [audit.wake(f"call {name}") for name in ("stat", "lstat", "fstatat")]
    opened = audit.wake("call open")
    statx = audit.wake("call statx")
    if any(wake is None for wake in stats) or opened is None:
        return _open("the calls were not tried")
    held = not any(wake.woken for wake in stats if wake) and opened.woken
    waking = [wake.name.removeprefix("call ") for wake in audit.wakes if wake.name.startswith("call ") and wake.woken]
    now = "woken by " + ", ".join(waking) if waking else "woken by none"
    why = "statx is the exception: it mounts unless AT_NO_AUTOMOUNT is given" if statx and statx.woken else ""
    return _Judgement(verdict(held), now, why)
