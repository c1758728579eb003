"""What was concluded about the replay of a journal, and what the figures say now."""

from __future__ import annotations

from firstlight.study import Finding, MissingValue, missing_in, time_text, verdict
from firstlight_studies.root_filesystems.content import SYNCED
from firstlight_studies.root_filesystems.findings.figures import RootFigures, missing
from firstlight_studies.root_filesystems.measures import FilesystemTimings

_LITTLE = 0.01
"""A change below this share of the start decides nothing."""


def replay(figures: RootFigures) -> Finding:
    """What the replay of a journal adds."""
    claim = "A journal makes the start longer, because it is replayed"
    then = "ext2 167 ms, ext3 457 ms with its log replayed"
    none, clean, dirty = (figures.start(name) for name in ("ext2", "ext4", "ext4-dirty"))
    if (gap := missing_in(none, clean, dirty)) is not None:
        return missing(claim, then, gap)
    assert isinstance(none, int)
    assert isinstance(clean, int)
    assert isinstance(dirty, int)
    now = f"ext2 {time_text(none)}, ext4 clean {time_text(clean)}, replayed {time_text(dirty)} from start_kernel"
    holds = (dirty - none) / none >= _LITTLE
    more = f"{(dirty - clean) / clean:+.2%}".replace("%", " %")
    why = f"the replay adds {more} in memory, where storage takes no time"
    if (most := _most_more(figures, "ext4-dirty", "ext4")) is not None:
        why += f"; most of it is {most[0]} ({time_text(most[1])})"
    return Finding(claim, then, now, verdict(holds), why)


def _most_more(figures: RootFigures, name: str, beside: str) -> tuple[str, int] | None:
    own, other = figures.arms.get(name), figures.arms.get(beside)
    if not isinstance(own, FilesystemTimings) or not isinstance(other, FilesystemTimings):
        return None
    return next(own.more_than(other).select("function", "more").iter_rows(), None)


def postponed(figures: RootFigures) -> Finding:
    """Whether a replay can be put off to the remount."""
    claim = "The replay can be deferred: mounted read-only without it, replayed when remounted for writing"
    then = "xfs 236 ms, with the replay at the remount"
    xfs, ext4 = (
        figures.replays.get("xfs", MissingValue("not booted")),
        figures.replays.get("ext4", MissingValue("not booted")),
    )
    steps = [
        each for each in (xfs, ext4) if not isinstance(each, MissingValue) and "remount" in each and "next" in each
    ]
    if not steps:
        return missing(claim, then, missing_in(xfs, ext4) or MissingValue("the guest left nothing of it"))
    words, right = [], []
    for name, each in (("xfs", xfs), ("ext4", ext4)):
        if isinstance(each, MissingValue) or "remount" not in each or "next" not in each:
            continue
        allowed = each["remount"].code == 0
        kept = each["next"].synced
        done = "done" if allowed else "refused"
        words.append(f"{name}: the remount is {done}, and then {kept} of {SYNCED} synced files are complete")
        right.append(allowed and kept == SYNCED)
    why = "a file system read without its log must not be written to: one rejects the remount, one loses its files"
    return Finding(claim, then, "; ".join(words), verdict(all(right)), "" if all(right) else why)
