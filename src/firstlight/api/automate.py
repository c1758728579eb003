"""Baselines, the gate and the history: boots that are checked one after another, for CI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, as_path, progress_of
from firstlight.errors import FirstlightError, UsageError
from firstlight.escape import printable

if TYPE_CHECKING:
    from firstlight.bundle.boot import Boot
    from firstlight.gate.baseline import Baseline
    from firstlight.gate.verdict import GateResult
    from firstlight.history.history import Added
    from firstlight.history.series import Kind, Series
    from firstlight.lab.board.board import Arm
    from firstlight.stats.change_points import ChangePoint


def set_baseline(
    boots: Sequence[PathLike], name: str = "baseline", *, because: str = "", directory: PathLike = "baselines"
) -> Baseline:
    """Save boots as the baseline of :func:`run_gate`; an existing baseline of that name is replaced.

    :param boots: one exact boot, several boots that vary, or a directory of boots.
    :param name: the baseline's name, or a `.json` file.
    :param because: the reason for accepting this level; reasons of former baselines stay in the file.
    :param directory: where baselines are stored.
    :raises UsageError: for a malformed name, no reason, or boots of several recipes.
    :raises FirstlightError: when a boot failed or cannot be read, or the file cannot be written.

    >>> import firstlight
    >>> firstlight.set_baseline([bundle], because="the first one", directory=bundle.parent / "baselines").name
    'baseline'
    """
    from firstlight.atomic import atomic_write
    from firstlight.comparison.open_many import open_all
    from firstlight.gate.baseline import baseline_path, baseline_text, make_baseline, read_baseline

    path = baseline_path(name, Path(directory))
    former = read_baseline(path) if path.exists() else None
    made = make_baseline(open_all(list(map(Path, boots))), path.stem, because, former)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FirstlightError(f"cannot be made: {error.strerror or error}", where=str(path.parent)) from error
    with atomic_write(path, force=True) as written:
        written.write_text(baseline_text(made), encoding="utf-8")
    return made


def run_gate(
    boots: Sequence[PathLike] = (),
    baseline: str = "baseline",
    *,
    directory: PathLike = "baselines",
    rules: PathLike | None = None,
    band: PathLike | None = None,
    fail_within_band: bool = False,
    other_testbed: bool = False,
    confirm: bool = False,
    pairs: int = 12,
    trust: bool = False,
    board: PathLike | None = None,
    board_boots: int = 12,
    append: str = "",
    kernel: PathLike | None = None,
    initrd: PathLike | None = None,
    rootfs: PathLike | None = None,
    keep: PathLike | None = None,
    progress: bool = False,
) -> GateResult:
    """Check boots against a baseline and rules.

    :param boots: one exact boot, several boots that vary, or a directory of boots; none with *board*.
    :param baseline: the baseline's name or file, as :func:`set_baseline` saved it.
    :param directory: where baselines are stored.
    :param rules: a TOML file; by default only the total is checked.
    :param band: the file of a noise band; a change of exact boots within it is not a regression. By default the band
        that :func:`calibrate` found for the baseline's recipe, else the shipped one of a similar guest.
    :param fail_within_band: report changes within the band, and still fail those beyond a limit of the rules.
    :param other_testbed: compare with a baseline of another testbed.
    :param confirm: confirm a regression with another boot, or with new pairs of boots that vary. Without it boots that
        vary never exceed a soft limit with certainty: they were not taken in turn with the baseline's.
    :param pairs: number of these pairs.
    :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
    :param board: boot this board instead: a board file, or a labgrid environment. Its `deploy` hook finds the arm
        `measured`, and to confirm an alarm the arm `baseline`, in `FIRSTLIGHT_ARM`.
    :param board_boots: of a board: the number of boots to check.
    :param append: of a board: words for the kernel's command line; likewise *kernel*, *initrd* and *rootfs*.
    :param keep: of a board: the directory for its boots; by default they are not kept.
    :param progress: show the progress of boots on a terminal.
    :returns: its `verdict` is `pass`, `improvement`, `regression`, `unhealthy` or `inconclusive`.
    :raises UsageError: for a baseline or rules that are missing or malformed.
    :raises FirstlightError: when a boot cannot be read, or is not comparable with the baseline.

    Source: docs/design/statistics.md.

    >>> import firstlight
    >>> _ = firstlight.set_baseline([bundle], because="the first one", directory=bundle.parent / "baselines")
    >>> firstlight.run_gate([bundle], directory=bundle.parent / "baselines").verdict
    'pass'
    """
    from firstlight.comparison.open_many import open_all
    from firstlight.gate.baseline import baseline_path, read_baseline
    from firstlight.gate.rules import read_rules
    from firstlight.gate.verdict import confirmed, evaluate

    against = read_baseline(baseline_path(baseline, Path(directory)))
    written = read_rules(None if rules is None else Path(rules))
    named = None
    if band is not None:
        from firstlight.experiment.calibrate.file import read_band
        from firstlight.gate.noise_band import given_band

        named = given_band(read_band(Path(band)), against, str(band))

    def evaluate_boots(bundles: Sequence[PathLike]) -> tuple[GateResult, Sequence[Boot]]:
        opened = open_all(list(map(Path, bundles)))
        result = evaluate(
            against, opened, written, named, where=str(rules or "the rules"), fail_within_band=fail_within_band,
            other_testbed=other_testbed,
        )  # fmt: skip
        return result, opened

    if board is not None:
        from firstlight.lab.board.board import Arm

        if boots:
            raise UsageError(
                "`boots` and `board` cannot be combined", hint="with `board`, Firstlight boots the board itself"
            )
        arm = Arm("measured", append, as_path(kernel), as_path(initrd), as_path(rootfs))
        return _gate_on_board(Path(board), arm, board_boots, pairs if confirm else 0, as_path(keep),
                              lambda made: evaluate_boots(made)[0], progress)  # fmt: skip
    result, opened = evaluate_boots(boots)
    confirmation = None
    if confirm and _is_to_confirm(result):
        from firstlight.gate.confirm import confirm_alarm

        confirmation = confirm_alarm(result, opened, pairs, progress_of(progress), trust=trust)
    return confirmed(result, confirmation)


def _is_to_confirm(result: GateResult) -> bool:
    return result.verdict == "regression" or (result.verdict == "improvement" and not result.exact)


def _gate_on_board(
    board: Path, arm: Arm, boots: int, pairs: int, keep: Path | None, check: Callable[[Sequence[Path]], GateResult],
    progress: bool,
) -> GateResult:  # fmt: skip
    """Boot a board, check its boots, and confirm an alarm by pairs."""
    import tempfile
    from contextlib import nullcontext

    from firstlight.gate.board import boot_for_gate, confirm_on_board, with_events
    from firstlight.gate.verdict import confirmed
    from firstlight.lab.board.board import check_arm
    from firstlight.lab.board.open import open_board

    opened = open_board(board)
    check_arm(opened, arm)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with nullcontext(keep) if keep is not None else tempfile.TemporaryDirectory(prefix="firstlight-gate-") as place:
        folder = Path(place)
        made = boot_for_gate(opened, arm, boots, folder, progress_of(progress))
        result = with_events(check([boot.bundle for _, boot in made if boot.bundle is not None]), made)
        confirmation = None
        if pairs and _is_to_confirm(result):
            again = folder / "confirm"
            again.mkdir(exist_ok=True)
            confirmation = confirm_on_board(result, open_board(board), arm, pairs, again, progress_of(progress))
        return confirmed(result, confirmation)


@dataclass(frozen=True)
class History:
    """A series of a history, and what changed next to it."""

    series: Series
    phases: tuple[Series, ...]
    """The phases that changed; empty unless the series is the total."""


@dataclass(frozen=True)
class Regressions:
    """Steps upwards that were never reverted: of the total first, then of parts by size."""

    total: Series
    found: tuple[tuple[Series, ChangePoint], ...]
    contradictions: tuple[str, ...] = ()
    """Testbeds that have labels in common and show several ratios; empty where one testbed was asked for."""

    def alerts(self, *, at_once: bool = False) -> list[ChangePoint]:
        """Those of the total that last; a wider spread is not an alert.

        :param at_once: one point is enough.
        """
        enough = ("lasts", "one point") if at_once else ("lasts",)
        return [change for series, change in self.found
                if series.kind == "total" and change.kind != "spread" and change.status in enough]  # fmt: skip

    @property
    def undecided(self) -> str:
        """Why nothing is settled; empty if it is.

        There are too few boots, only one point on the testbed of the newest, testbeds that contradict each other, or
        the newest boot failed.
        """
        if self.contradictions:
            return "; ".join(self.contradictions)
        if self.total.newest_failed:
            return f"the newest boot failed: {printable(self.total.failed[-1], 300)}"
        if self.total.left_out and len(self.total.points) < 2:
            return f"only the newest boot is from its testbed; {self.total.left_out} are from others"
        open_ = [series for series, change in self.found if series.kind == "total" and change.status == "not confirmed"]
        return "the total rose, and more boots are needed to confirm it" if open_ else ""


def add_to_history(history: PathLike, boots: Sequence[PathLike], *, at: str) -> Added:
    """Add the totals, phases, functions, processes, services and system calls of boots to a history.

    :param history: a DuckDB file; it is made when it is missing.
    :param boots: bundles, or directories of bundles.
    :param at: the commit or another name for the booted version; several boots with one name are samples of it.
    :raises FirstlightError: when a boot failed or cannot be read, or the file cannot be written; no boot is then added.

    >>> import firstlight
    >>> firstlight.add_to_history(bundle.parent / "boots.duckdb", [bundle], at="v1").boots <= 1
    True
    """
    from firstlight.comparison.open_many import open_all
    from firstlight.history.open_history import open_history

    opened = open_all(list(map(Path, boots)))
    with open_history(Path(history), write=True) as written:
        return written.add(opened, at)


def read_history(
    history: PathLike, kind: Kind = "total", name: str | None = None, *, testbed: str | None = None
) -> History:
    """Read a series of a history, with its changes.

    :param history: a DuckDB file, or a directory of bundles.
    :param kind: `total`, `phase`, `function`, `process` (by program), `service`, `system_call`, `package` or
        `user_function`.
    :param name: the name of the phase or function.
    :param testbed: the testbed to show, such as `testbed 1`; by default that of the newest boot.
    :raises UsageError: when the history is empty or has no such series.
    :raises FirstlightError: when the history cannot be read.

    Source: docs/design/statistics.md.

    >>> import firstlight
    >>> firstlight.read_history(bundle.parent).series.kind
    'total'
    """
    from firstlight.history.open_history import open_history
    from firstlight.history.series import changing_series, read_series

    if kind != "total" and name is None:
        raise UsageError(f"which {kind}?", where="--name", hint="name it: `--name NAME`")
    with open_history(Path(history)) as opened:
        series = read_series(opened, kind, "total" if kind == "total" else str(name), testbed=testbed)
        others = changing_series(opened, "phase", testbed=testbed) if kind == "total" else ()
        return History(series, tuple(others))


def find_regressions(history: PathLike, *, testbed: str | None = None) -> Regressions:
    """Find the increases in a history that were never reverted: of the total, phases, functions and userspace.

    Userspace are processes by program, services and system calls, of boots that followed them.

    A part counts if it changed by at least a thousandth of the boot.

    :param history: a DuckDB file, or a directory of bundles.
    :param testbed: the testbed to search, such as `testbed 1`; by default that of the newest boot.
    :raises FirstlightError: when the history is empty or cannot be read.

    Source: docs/design/statistics.md.

    >>> import firstlight
    >>> firstlight.find_regressions(bundle.parent).alerts()
    []
    """
    from firstlight.history.open_history import open_history
    from firstlight.history.series import PARTS, changing_series, read_series

    with open_history(Path(history)) as opened:
        total = read_series(opened, testbed=testbed)
        parts = [each for kind in PARTS for each in changing_series(opened, kind, testbed=testbed)]
        every = [total, *parts]
    found = [(series, change) for series in every for change in series.regressions()]
    found.sort(key=lambda each: (each[0].kind != "total", -(each[1].after - each[1].before)))
    return Regressions(total, tuple(found), total.contradictions if testbed is None else ())
