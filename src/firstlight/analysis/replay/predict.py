"""What a boot would take without some of its work, or with a part of it: predicted by a replay of its threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from firstlight.analysis.path.processor import Processor as Recorded
from firstlight.analysis.path.thread_names import Programs
from firstlight.analysis.path.wakeups import WakeGraph
from firstlight.analysis.processes.processes import hint_to_record
from firstlight.analysis.replay.processor import Cut, Processor, Replay, Work
from firstlight.analysis.replay.script import script_of
from firstlight.analysis.replay.select import Selected, Selector, WorkPart
from firstlight.analysis.replay.then import IDLE, charged
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns
from firstlight.errors import FirstlightError, UsageError
from firstlight.schema.marks import Mark

_ALL = 1_000_000
_PATH = columns("name service before_ns:int after_ns:int change_ns:int")


@dataclass(frozen=True)
class Taken:
    """A change as it was applied."""

    name: str
    part: WorkPart
    less: int
    """How much less work it is, in millionths."""
    work_ns: int
    """What the work took before the goal."""
    follows_ns: int
    """What else is taken out with it: what it made others do. It is 0 for work that is only faster."""
    threads: int


@dataclass(frozen=True)
class Prediction:
    """When the marks of a boot would be reached after a change of its work."""

    goal: str
    recorded_ns: int
    predicted_ns: int
    idle_ns: int
    """How long nothing runs on the path then: waits for timers and devices, which the prediction takes as recorded."""
    taken: tuple[Taken, ...]
    marks: pl.DataFrame
    """Every mark: `mark`, `recorded_ns`, `predicted_ns`, `change_ns`; null where the replay reached the goal first."""
    path: pl.DataFrame
    """What the path to the goal consists of, by program: `name`, `service`, `before_ns`, `after_ns`, `change_ns`, the
    most afterwards first, and `[idle]`. The figures add up to the time from the kernel's first instruction on."""
    residual_ns: int
    """How far the replay of the unchanged boot misses the record."""
    cautions: tuple[str, ...]
    """What the replay cannot know about this change."""

    @property
    def change_ns(self) -> int:
        """Against the record: negative is earlier."""
        return self.predicted_ns - self.recorded_ns

    @property
    def slack_ns(self) -> int:
        """How much of the work that was taken out had not delayed the goal."""
        removed = sum((each.work_ns * each.less) // _ALL + each.follows_ns for each in self.taken)
        return max(0, removed + self.change_ns)


def predict(boot: Boot, without: Sequence[str] = (), faster: Mapping[str, float] | None = None) -> Prediction:
    """When a boot would be ready without some of its work, or if work took less.

    The runs, sleeps and wake-ups of all threads are replayed on one processor. A thread waits for what it waited for,
    and for its turn as long as in the record. Interrupts come as long after a thread went to sleep as in the record.

    :param without: names of units, processes (also by pid or executable), initcalls, system calls, functions of the
        kernel, or files and functions of user mode. What they wake others for happens at once. The processes that they
        create are taken out with them, and what threads of the kernel do for them.
    :param faster: by name, how much less time it takes, from 0 to 1.
    :raises UsageError: for a share that is none.
    :raises BundleError: when the boot has nothing of a name.
    :raises FirstlightError: when the boot has no wake-ups, or nothing would reach the goal any more.

    >>> import firstlight
    >>> from firstlight.errors import FirstlightError
    >>> try:
    ...     predict(firstlight.open(bundle), without=["dh_init"])
    ... except FirstlightError as error:
    ...     print(str(error).rpartition(": ")[2])
    this boot has no wake-ups
    """
    wanted = [(name, _ALL) for name in without] + [(name, _share(name, less)) for name, less in (faster or {}).items()]
    if not wanted:
        raise UsageError("nothing is to be changed", hint="give `--without NAME` or `--faster NAME=50%`")
    if boot.table("wakeups").is_empty() or boot.runs().is_empty():
        raise FirstlightError("this boot has no wake-ups", where=str(boot.directory), hint=hint_to_record(boot))
    return _Model(boot).predict(wanted)


class _Model:
    def __init__(self, boot: Boot) -> None:
        self._boot = boot
        self._graph = WakeGraph(boot)
        self._begin = min(runs.starts[0] for runs in self._graph.runs.values())
        marks = boot.marks().drop_nulls("time_ns").select("mark", "time_ns").rows()
        self._marks: dict[str, int] = dict(marks)
        goals = (Mark.READY, Mark.STARTUP_FINISHED)
        self.goal = next((str(mark) for mark in goals if mark in self._marks), marks[-1][0])
        self._script = script_of(self._graph, {name: at for name, at in marks if at > self._begin})
        recorded = Recorded(boot)
        self._programs = Programs(boot, recorded)
        self._selector = Selector(boot, self._graph, recorded)

    def predict(self, wanted: Sequence[tuple[str, int]]) -> Prediction:
        cuts: dict[int, list[Cut]] = {}
        taken, all_selected = [], []
        goal = self._marks[self.goal]
        for name, less in wanted:
            selected = self._selector.find(name)
            whole = self._selector.taken_out(selected) if less == _ALL else selected
            self._check(whole, name, less)
            own = self._selector.ns(selected, goal)
            more = self._selector.ns(whole, goal) - own
            threads = {*whole.times, *(share.thread for share in whole.shares if share.thread is not None)}
            taken.append(Taken(name, selected.part, less, own, more, len(threads)))
            all_selected.append((whole, less))
            for thread, parts in self._selector.cuts(whole, _ALL - less).items():
                cuts.setdefault(thread, []).extend(parts)
        before, after = self._replay(Work({})), self._replay(Work(cuts))
        if self.goal not in after.reached:
            raise FirstlightError(
                f"the replay does not reach `{self.goal}`", where=str(self._boot.directory),
                hint="what is left waits for what was taken out; take out less",
            )  # fmt: skip
        path = self._path(before, after)
        idle = int(path.filter(pl.col("name") == IDLE.name)["after_ns"].sum())
        cautions = tuple(self._cautions(all_selected, after))
        residual = before.reached.get(self.goal, goal) - goal
        then = after.reached[self.goal]
        return Prediction(self.goal, goal, then, idle, tuple(taken), self._table(after), path, residual, cautions)

    def _replay(self, work: Work) -> Replay:
        return Processor(self._script, work.left, work.gone).run(self.goal)

    def _check(self, selected: Selected, name: str, less: int) -> None:
        goal = self._marks[self.goal]
        if less < _ALL:
            return
        if selected.covers(self._graph.at(goal), goal - 1):
            raise FirstlightError(
                f"without `{name}` nothing reaches `{self.goal}`: it does so itself",
                where=str(self._boot.directory), hint=f"make it faster instead: `--faster '{name}=50%'`",
            )  # fmt: skip
        if selected.part in (WorkPart.UNIT, WorkPart.PROCESS) and selected.times.keys() & self._selector.init:
            whole = any(end >= goal for thread in self._selector.init for _, end in selected.times.get(thread, []))
            if whole:
                raise FirstlightError(
                    f"without `{name}` the boot has no first process", where=str(self._boot.directory),
                    hint=f"make it faster instead: `--faster '{name}=50%'`",
                )  # fmt: skip

    def _table(self, after: Replay) -> pl.DataFrame:
        rows = []
        for mark, at in self._marks.items():
            then = at if at <= self._begin else after.reached.get(mark)
            rows.append((mark, at, then, None if then is None else then - at))
        schema = {"mark": pl.String, **dict.fromkeys(("recorded_ns", "predicted_ns", "change_ns"), pl.Int64)}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _path(self, before: Replay, after: Replay) -> pl.DataFrame:
        was, then = (
            charged(each, self._begin, each.reached.get(self.goal, 0), self._programs) for each in (before, after)
        )
        rows = [(*named, was.get(named, 0), then.get(named, 0), then.get(named, 0) - was.get(named, 0))
                for named in {**was, **then}]  # fmt: skip
        frame = pl.DataFrame(rows, schema=_PATH, orient="row")
        return frame.sort("after_ns", "name", descending=[True, False], maintain_order=True)

    def _cautions(self, chosen: Sequence[tuple[Selected, int]], after: Replay) -> list[str]:
        found = []
        if self._script.unexplained:
            found.append(f"{self._script.unexplained:,} sleeps have no recorded wake-up; they last as long as before")
        for selected, less in chosen:
            if selected.part is WorkPart.FUNCTION:
                found.append(f"`{selected.name}`: its share of each phase is spread over all that ran in the phase")
            if selected.part in (WorkPart.FILE, WorkPart.USER_FUNCTION):
                found.append(
                    f"`{selected.name}`: its share of each program is spread over all that the program ran; page "
                    "faults and system calls that it causes stay"
                )
            if less == _ALL and (woken := self._woken_by(selected)):
                others = "another program; what that" if woken == 1 else f"{woken:,} other programs; what they"
                found.append(f"`{selected.name}` woke {others} did for it is still in the prediction")
        if ended := len(after.ended - self._ended_before()):
            found.append(f"{ended:,} threads did all that the record shows of them; what they would do next is unknown")
        return found

    def _woken_by(self, selected: Selected) -> int:
        programs = set()
        for thread, runs in self._graph.runs.items():
            if thread in self._graph.kernel or thread in self._graph.idle or thread in selected.times:
                continue
            for run in range(1, len(runs.starts)):
                woken = None if self._graph.could_run(thread, run - 1) else self._graph.wake(thread, run)
                if woken and not woken[2] and selected.covers(woken[1], woken[0]):
                    programs.add(self._programs.at(thread, runs.starts[run]))
        return len(programs)

    def _ended_before(self) -> set[int]:
        """Threads that ended, or slept, at the end of the record: nothing of them is missing."""
        over = self._marks[self.goal]
        ended = self._boot.threads().filter(pl.col("end_ns").is_not_null())["thread"].to_list()
        asleep = [thread for thread, runs in self._graph.runs.items()
                  if runs.ends[-1] < over and not self._graph.could_run(thread, len(runs.starts) - 1)]  # fmt: skip
        return {*ended, *asleep}


def _share(name: str, less: float) -> int:
    if not 0 < less < 1:
        raise UsageError(
            f"`{name}`: {less:.0%} less is not a speed-up", where="--faster",
            hint=f"give more than 0 % and less than 100 %; `--without {name}` takes all of it out",
        )  # fmt: skip
    return round(less * _ALL)
