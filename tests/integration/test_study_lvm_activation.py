"""The study of LVM activation on small invented figures: what it reads, how it counts, and what it concludes."""

import gzip
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from bundles import make_bundle, write_table
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.errors import UsageError
from firstlight.render.terminal.experiment_progress import ExperimentProgress
from firstlight.study.claims import claims_of
from firstlight.study.extent import Extent
from firstlight.study.historical import historical_tables
from firstlight.study.outcome import Finding
from firstlight.study.runner import Lab
from firstlight.study.table import MissingValue
from firstlight.study.verdicts import evaluate
from firstlight_studies.lvm_activation.arms import BY_KEY, SETTINGS, Cell, Mode, arm, guest_options, plan
from firstlight_studies.lvm_activation.changes import change_table, tracing_table
from firstlight_studies.lvm_activation.counted import CountModel, by_counts
from firstlight_studies.lvm_activation.figures import figures_of as claim_figures
from firstlight_studies.lvm_activation.growth import growth_table
from firstlight_studies.lvm_activation.measured import Measured
from firstlight_studies.lvm_activation.measures import ActivationFigures
from firstlight_studies.lvm_activation.measures import figures as figures_of
from firstlight_studies.lvm_activation.models import ActivationModel, laws
from firstlight_studies.lvm_activation.programs import Command, Programs
from firstlight_studies.lvm_activation.run import run
from firstlight_studies.lvm_activation.tables import commands_table, measured_table
from firstlight_studies.lvm_activation.trace import MONITOR, read_trace
from firstlight_studies.lvm_activation.userspace import write_overlay
from firstlight_studies.lvm_activation.volumes import Volumes

MS = 1_000_000
MIB = 1 << 20
SIZES = (3, 10, 30, 100, 300)
HEAD = "# tracer: nop\n#\n# entries-in-buffer/entries-written: {kept}/{written}   #P:1\n"


def traced(*lines: str, kept: int = 5, written: int = 5) -> bytes:
    body = "".join(f"             lvm-{line}\n" for line in lines)
    return gzip.compress((HEAD.format(kept=kept, written=written) + body).encode())


def opened(pid: int, time: int, fs: str, folder: str, name: str) -> str:
    return f'{pid}     [000] .....   {time}: opened: (vfs_open+0x0/0x30) fs="{fs}" in="{folder}" name="{name}"'


def began(pid: int, time: int, one: str = "pvscan", two: str = "--cache") -> str:
    asked = f'{pid}     [000] .....   {time - 1}: arguments: (finalize_exec+0x0/0x30) one="{one}" two="{two}"'
    return f"{asked}\n             lvm-{executed(pid, time)}"


def executed(pid: int, time: int) -> str:
    return f"{pid}     [000] .....   {time}: sched_process_exec: filename=/sbin/lvm pid={pid} old_pid={pid}"


def ended(pid: int, time: int) -> str:
    return f"{pid}     [000] .....   {time}: sched_process_exit: comm=lvm pid={pid} prio=120"


def resident(pid: int, time: int, kind: str, size: int, current: int = 1) -> str:
    return f"{pid}     [000] ...1.   {time}: rss_stat: mm_id=0 curr={current} type=MM_{kind}PAGES size={size}B"


PVSCAN = Command(
    "pvscan --cache", count=2, opened=100, online=2, udev_database=0, udev_database_most=0, sysfs=4, sysfs_most=2,
    memory_most=4 * MIB,
)  # fmt: skip
MONITORING = replace(PVSCAN, words=MONITOR, count=1, opened=900, sysfs=600, sysfs_most=600)


def figures(active_ms: float, **changes: object) -> ActivationFigures:
    programs = Programs((PVSCAN, MONITORING), at_once=2, memory=8 * MIB)
    base = ActivationFigures(round(active_ms * MS), round(active_ms * MS) + MS, 1, MS, MS, 20 * MIB, 40 * MIB, programs)
    return replace(base, **changes)  # type: ignore[arg-type]


def with_programs(
    made: ActivationFigures, at_once: int = 2, memory: int = 8 * MIB, **changes: int
) -> ActivationFigures:
    return replace(made, programs=Programs((replace(PVSCAN, **changes), MONITORING), at_once, memory))  # type: ignore[arg-type]


def measured(**settings: Mapping[int, ActivationFigures | MissingValue]) -> Measured:
    return {(name.replace("_", "-"), "groups"): by_size for name, by_size in settings.items()}


def concluded(found: Measured) -> dict[str, Finding]:
    """By claim, of a machine that times everything."""
    claims = claims_of("firstlight_studies.lvm_activation")
    return {each.id: each for each in evaluate(claims, {**claim_figures(found), "band": 0.001}, ())}


# What the kernel noted


def test_a_trace_tells_what_each_process_opened() -> None:
    trace = read_trace(
        traced(
            began(100, 10),
            opened(100, 11, "tmpfs", "data", "b259:1"),
            opened(100, 12, "tmpfs", "pvs_online", "F1rstlightphysicalvolumes0000001"),
            opened(100, 13, "sysfs", "pmem1", "dev"),
            opened(100, 14, "devtmpfs", "/", "pmem1p1"),
            opened(100, 15, "ext4", "data", "b259:1"),
            ended(100, 20),
        )
    )
    assert trace is not None
    assert trace.complete
    (program,) = trace.programs
    opens = (program.udev_database, program.sysfs, program.devices, program.online, program.opened)
    assert opens == (1, 1, 1, 1, 5)
    assert (program.command, program.began_ns, program.ended_ns) == ("pvscan --cache", 10, 20)


def test_memory_of_all_is_the_most_that_they_had_at_one_instant() -> None:
    trace = read_trace(
        traced(
            began(1, 10),
            resident(1, 11, "ANON", 6 * MIB),
            resident(1, 12, "FILE", 90 * MIB),
            began(2, 13),
            resident(2, 14, "ANON", 3 * MIB),
            resident(1, 15, "ANON", 1 * MIB),
            resident(2, 16, "ANON", 4 * MIB),
            resident(2, 17, "ANON", 50 * MIB, current=0),
            ended(2, 18),
            resident(1, 19, "ANON", 7 * MIB),
        )
    )
    assert trace is not None
    assert trace.memory == 9 * MIB
    assert trace.at_once == 2
    assert [program.memory for program in trace.programs] == [7 * MIB, 4 * MIB]


def test_a_child_that_executed_nothing_is_no_process_of_its_own() -> None:
    trace = read_trace(traced(began(1, 10), opened(2, 11, "sysfs", "a", "b"), ended(2, 12), ended(1, 13)))
    assert trace is not None
    assert [program.sysfs for program in trace.programs] == [0]


def test_lost_notes_are_reported() -> None:
    trace = read_trace(traced(began(1, 10), kept=5, written=9))
    assert trace is not None
    assert not trace.complete


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08\0cut", gzip.compress(b"nothing of the kind\n", mtime=0)])
def test_what_is_no_trace_gives_none(content: bytes) -> None:
    assert read_trace(content) is None


# What is booted


def test_every_setting_is_known_to_the_guest() -> None:
    guest = Path(__file__).parents[2] / "src/firstlight_studies/lvm_activation/guest/generator.sh"
    text = guest.read_text()
    for setting in SETTINGS:
        assert f"  {setting.key})" in text or f"  {setting.key} |" in text, setting.key
        assert setting.against in BY_KEY


def test_the_plans_grow_and_name_each_arm_once() -> None:
    quick, ordinary, full = (plan(mode).cells() for mode in ("quick", "ordinary", "full"))
    assert len(quick) < len(ordinary) < len(full)
    for cells in (quick, ordinary, full):
        assert len({cell.name for cell in cells}) == len(cells)
    counts = {cell.volumes.count for cell in ordinary}
    assert {10, 30, 100, 300} <= counts
    assert 1000 in {cell.volumes.count for cell in full}


@pytest.mark.parametrize("mode", ["ordinary", "full"])
def test_every_setting_has_sizes_enough_for_a_law_up_to_those_that_were_asked_for(mode: Mode) -> None:
    rows = plan(mode).rows
    assert {setting for setting, _ in rows} == set(BY_KEY)
    assert all(len(sizes) >= 5 and {3, 10, 30, 100} <= set(sizes) for sizes in rows.values())
    assert all(len(rows[setting, "groups"]) >= 8 for setting in ("event", "static")), "no model is clear by fewer"


def test_sizes_that_were_asked_for_stand_in_for_all_others() -> None:
    assert set(plan("ordinary", (5, 9)).rows.values()) == {(5, 9)}
    with pytest.raises(UsageError, match="no size: `many`"):
        Extent(sizes=("many",)).counts(10)


def test_an_overlay_is_the_same_whenever_it_is_written(tmp_path: Path) -> None:
    one, other = (write_overlay(tmp_path / name) for name in ("one", "other"))

    def content(folder: Path) -> list[tuple[str, int, float, bytes]]:
        return [
            (str(path.relative_to(folder)), path.lstat().st_mode, path.lstat().st_mtime, path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()
        ]

    assert content(one) == content(other)
    assert (one / "etc/lvm/lvmlocal.conf").is_symlink()
    assert (one / "etc/systemd/system-generators/lvm-study").stat().st_mode & 0o111


def test_an_arm_of_what_is_missing_is_a_hole(tmp_path: Path) -> None:
    guest = guest_options(tmp_path / "kernel", tmp_path / "rootfs", tmp_path)
    cell = Cell("event", Volumes(3, "groups"))
    assert arm(cell, MissingValue("no kernel"), ()).options == MissingValue("no kernel")
    assert arm(cell, guest, MissingValue("no disks")).options == MissingValue("no disks")


def test_a_machine_with_too_little_memory_is_reported_for_how_many_volumes(tmp_path: Path) -> None:
    guest = guest_options(tmp_path / "kernel", tmp_path / "rootfs", tmp_path)
    cell = Cell("event", Volumes(1000, "groups"))
    options = arm(cell, guest, (), available=64 * MIB).options
    assert isinstance(options, MissingValue)
    assert options.reason.startswith("too little memory for 1,000 volumes: guest and disks need 2 GiB")


def test_without_a_kernel_every_arm_is_a_hole_and_the_study_says_so(tmp_path: Path) -> None:
    why = MissingValue("the kernel cannot be built: no source package")
    with ExperimentProgress() as progress:
        outcome = run(
            Lab(tmp_path, progress, {"kernel": why, "debian-storage": why}, extent=Extent(quick=True), jobs=1)
        )
    assert {missing.reason for missing in outcome.missing} == {why.reason}
    assert all(finding.verdict == "not testable here" for finding in outcome.findings)
    assert outcome.historical == historical_tables("firstlight_studies.lvm_activation")


# How figures grow


def test_a_linear_cost_has_a_growth_with_the_exponent_one() -> None:
    found = laws({size: figures(1000 + 5 * size) for size in SIZES})["active"]
    assert isinstance(found, ActivationModel)
    assert found.study.law == "n"
    assert found.study.growth_exponent is not None
    assert found.study.growth_exponent.value == pytest.approx(1, abs=1e-6)
    assert found.study.left_out is not None
    assert found.study.left_out.error == pytest.approx(0, abs=1e-6)
    assert found.far is not None
    assert found.far.low <= (1000 + 5 * 1200) * MS <= found.far.high


def test_too_few_sizes_give_no_law_but_a_reason() -> None:
    found = laws({size: figures(size) for size in SIZES[:4]})["active"]
    assert found == MissingValue("4 sizes came up: a law needs 5")


def test_what_a_setting_does_not_have_has_no_law() -> None:
    by_size = {size: figures(size, active_ns=None) for size in SIZES}
    assert laws(by_size)["active"] is None
    assert laws(by_size)["settled"] is not None


def test_files_that_nobody_opened_have_no_law() -> None:
    assert laws({size: figures(size) for size in SIZES})["udev-most"] == MissingValue("nothing at any size")


# What the tables hold


def test_a_boot_that_failed_is_a_gap_in_every_table() -> None:
    found = measured(event={3: figures(10), 10: MissingValue("too little memory for 10 volumes")})
    for where in ("times", "files", "memory"):
        table = measured_table(found, where)
        assert [reason for _, _, reason in table.gaps()] == ["too little memory for 10 volumes"]
        assert len(table.rows) == 2


def test_what_a_process_opens_is_reported_without_that_of_the_monitor() -> None:
    table = measured_table(measured(event={3: figures(10)}), "files")
    values = dict(zip((field.title for field in table.fields), table.rows[0], strict=True))
    assert values["Files opened, per process"] == 50
    assert values["sysfs, by one"] == 2


def test_processes_are_reported_by_what_they_were_asked_to_do() -> None:
    table = commands_table(measured(event={3: figures(10), 10: figures(20), 30: MissingValue("died")}))
    assert [row[1:5] for row in table.rows] == [(10, "pvscan --cache", 2, 50), (10, MONITOR, 1, 900)]


def test_changes_are_taken_at_the_largest_size_that_both_came_up_with() -> None:
    found = measured(
        event={3: figures(10), 10: figures(20), 30: figures(40)},
        obtain={3: figures(10), 10: figures(25), 30: MissingValue("died")},
    )
    (row,) = change_table(found).rows
    assert row[2:5] == (10, 5 * MS, 0.25)


def test_the_cost_of_the_notes_is_reported() -> None:
    cell = Cell("event", Volumes(3, "groups"), trace=False)
    table = tracing_table({cell: figures(100)}, measured(event={3: figures(101)}))
    assert table.rows[0][1:] == (3, 100 * MS, 101 * MS, 1 * MS, 0.01)


def grown(by_size: Mapping[int, ActivationFigures], quantity: str) -> dict[str, object]:
    table = growth_table({("event", "groups"): laws(by_size)})
    (row,) = [row for row in table.rows if row[0] == quantity]
    return dict(zip((field.title for field in table.fields), row, strict=True))


def test_the_law_of_every_quantity_stands_in_one_table() -> None:
    values = grown({size: figures(1000 + 5 * size) for size in SIZES}, "Last volume active")
    assert values["Law"] == "n"
    assert values["Exponent of the growth"] == 1.0
    assert values["Largest N"] == 300
    assert values["Measured there"] == "2.500000 s"


def test_where_no_law_foretells_the_largest_none_is_reported_and_nothing_beyond() -> None:
    memory = dict(zip(SIZES, (11, 20, 35, 60, 58), strict=True))
    by_size = {size: with_programs(figures(10), memory=each * MIB) for size, each in memory.items()}
    values = grown(by_size, "Memory of lvm2, peak")
    why = MissingValue("no law of the family foretells the largest")
    assert (values["Law"], values["At 4 × the largest N, from"], values["to"]) == (why, why, None)
    assert isinstance(values["Error"], float)
    assert abs(values["Error"]) > 0.2
    assert isinstance(values["Exponent"], float)


# What is concluded


def test_verdicts_follow_the_figures_as_they_were_in_2021() -> None:
    event = {
        size: with_programs(
            figures(1000 + 2 * size**2), count=size, opened=size**2, at_once=size, memory=1000 * size * MIB
        )
        for size in SIZES
    }
    static = {
        size: with_programs(figures(900 + 38 * size), memory=30_000 * MIB, udev_database_most=size, sysfs_most=size)
        for size in SIZES
    }
    obtain = {size: figures(3000 + 6 * size**2) for size in SIZES}
    rejected = {size: replace(each, active_ns=None, settled_ns=round(each.settled_ns * 0.81))
                for size, each in event.items()}  # fmt: skip
    found = concluded(measured(event=event, static=static, static_obtain=static, obtain=obtain, rejected=rejected))
    assert {name: each.verdict.value for name, each in found.items() if each.verdict != "holds"} == {}
    assert "3.00" in found["obtain"].now


def test_verdicts_follow_the_figures_where_nothing_of_it_is_left() -> None:
    event = {size: with_programs(figures(1000 + size), at_once=1, memory=MIB) for size in SIZES}
    same = {size: with_programs(figures(1000 + size), memory=MIB) for size in SIZES}
    found = concluded(measured(event=event, static=same, static_obtain=same, obtain=same, rejected=same))
    assert {each.verdict.value for each in found.values()} == {"no longer holds"}, found


def test_the_largest_size_is_in_the_model_by_counts_which_finds_the_term_of_the_files() -> None:
    """300 processes, each of which opens 300 notes: the time of files is quadratic in N, and the model knows it."""
    sizes = (3, 10, 30, 100, 300, 1000)
    counts = {size: Programs((replace(PVSCAN, count=size, opened=size * size),), 1, 0) for size in sizes}
    times = {size: round((1000 + 30 * size + 0.05 * size**2) * MS) for size in sizes}
    model = by_counts(times, counts)
    assert isinstance(model, CountModel)
    assert model.sizes[-1] == 1000
    assert model.misfit < 1e-6
    assert (round(model.per_process_ns / MS, 3), round(model.per_file_ns / MS, 5)) == (30.0, 0.05)
    assert model.files_share == pytest.approx(50_000 / 81_000, rel=1e-3)
    assert model.reach_ns == pytest.approx((1000 + 30 * 4000 + 0.05 * 4000**2) * MS, rel=1e-6)
    assert isinstance(by_counts(dict(list(times.items())[:3]), counts), MissingValue)


def test_few_volumes_do_not_show_whether_the_time_grows_faster_than_their_number() -> None:
    """The times of a quick run; and times that the counts explain to the nanosecond."""
    times = {2: 2_188_729_000, 4: 2_384_659_000, 8: 2_908_696_000, 16: 4_048_711_000, 32: 6_456_742_000}
    counts = {}
    for size in times:
        processes = 2 * size + 1
        pvscan = replace(PVSCAN, count=processes, opened=round(processes * (48.5 + size / 2)))
        counts[size] = Programs((pvscan,), 1, 0)
    model = by_counts(times, counts)
    assert isinstance(model, CountModel)
    assert model.per_file_least_ns < 0 < model.per_file_ns
    assert isinstance(gap := model.grows_faster, MissingValue)
    assert "up to N = 32 the times do not show it" in gap.reason
    exact = {size: round((1900 + 20 * (2 * size + 1) + 0.8 * counts[size].activating[0].opened) * MS) for size in times}
    assert isinstance(shown := by_counts(exact, counts), CountModel)
    assert shown.grows_faster == pytest.approx(0.8 * MS, rel=0.01)


def test_no_model_is_clear_by_fewer_than_eight_sizes() -> None:
    few = laws({size: figures(1000 + 5 * size) for size in SIZES})["active"]
    many = laws({size: figures(1000 + 5 * size) for size in (3, 10, 20, 30, 60, 100, 200, 300)})["active"]
    assert isinstance(few, ActivationModel)
    assert isinstance(many, ActivationModel)
    assert (few.certainty, many.certainty) == ("likely", "clear")


def test_what_was_not_booted_cannot_be_tested() -> None:
    found = concluded(measured(event={size: MissingValue("no kernel") for size in SIZES}))
    assert {finding.verdict.value for finding in found.values()} == {"not testable here"}


def test_the_historical_figures_are_those_of_2021() -> None:
    activation, memory, mechanism = historical_tables("firstlight_studies.lvm_activation")
    assert [row[1] for row in activation.rows] == [591.0, 126.0, 40.0, 102.0, 8.7]
    assert [row[1] for row in memory.rows] == ["about 2 GB", "about 20 GB"]
    assert len(mechanism.rows) == 4


# What a bundle tells


def booted(folder: Path, **kept: bytes) -> Boot:
    """An invented boot that came up, with what its guest left."""
    path = make_bundle(folder)
    left = path / "raw" / "guest-files"
    left.mkdir()
    whole = {
        "stamps": b"100 volumes\n120 settled\n",
        "active": b"3\n",
        "memory": b"system.slice 40\nsystem.slice/systemd-udevd.service 20\n",
        "trace.gz": traced(began(1, 10), ended(1, 12)),
        "versions": b"lvm2 2.03.16-2\nsystemd 252\n",
    }
    for name, content in {**whole, **{name.replace("_", "."): each for name, each in kept.items()}}.items():
        (left / name).write_bytes(content)
    return open_boot(path)


CELL = Cell("event", Volumes(3, "groups"))


def test_a_boot_gives_its_figures(tmp_path: Path) -> None:
    found = figures_of(CELL, booted(tmp_path))
    assert isinstance(found, ActivationFigures)
    assert (found.active_ns, found.settled_ns, found.udev_memory, found.services_memory) == (100, 120, 20, 40)
    assert isinstance(found.programs, Programs)
    assert (found.programs.count, found.programs.text()) == (1, "1 × `pvscan --cache`")


def test_a_setting_that_activates_nothing_has_no_instant_at_which_all_are_active(tmp_path: Path) -> None:
    found = figures_of(Cell("rejected", Volumes(3, "groups")), booted(tmp_path, active=b"0\n"))
    assert isinstance(found, ActivationFigures)
    assert found.active_ns is None


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        ({"active": b"2\n"}, "2 of 3 volumes became active"),
        ({"active": b""}, "none of 3 volumes became active"),
        ({"errors": b"no such setting: evnt\n"}, "no such setting: evnt"),
        ({"stamps": b"100 volumes\nabc settled\n"}, "the guest did not say when it had settled"),
        ({"stamps": b"120 settled\n"}, "the guest did not say when the last volume was active"),
        ({"memory": b"system.slice many\n"}, "the guest did not say when it had settled"),
    ],
)
def test_a_boot_that_tells_less_is_a_hole_with_its_reason(tmp_path: Path, kept: dict[str, bytes], why: str) -> None:
    assert figures_of(CELL, booted(tmp_path, **kept)) == MissingValue(why)


def test_a_guest_that_ran_out_of_memory_is_reported_as_that(tmp_path: Path) -> None:
    boot = booted(tmp_path, active=b"1\n")
    row = boot.log().tail(1).with_columns(text=pl.lit("Out of memory: Killed process 100 (lvm)"))
    write_table(boot.directory, "log", pl.concat([boot.log(), row]))
    found = figures_of(CELL, open_boot(boot.directory))
    assert isinstance(found, MissingValue)
    assert found.reason.startswith("too little memory for 3 volumes")


def test_lost_notes_leave_the_times_and_take_the_counts(tmp_path: Path) -> None:
    found = figures_of(CELL, booted(tmp_path, trace_gz=traced(began(1, 1), kept=1, written=2)))
    assert isinstance(found, ActivationFigures)
    assert found.active_ns == 100
    assert found.programs == MissingValue("the kernel's buffer for notes was too small")


def test_processes_of_which_nobody_knows_what_they_do_are_not_counted(tmp_path: Path) -> None:
    found = figures_of(CELL, booted(tmp_path, trace_gz=traced(executed(1, 10), ended(1, 12))))
    assert isinstance(found, ActivationFigures)
    assert found.programs == MissingValue("the guest's kernel did not note what a process of lvm2 was asked to do")


# What the guest makes of its command line


def generated(
    folder: Path, words: str, addresses: Sequence[str] = ("0x100000000", "0x123400000")
) -> tuple[dict[str, str], dict[str, str]]:
    """Run the guest's generator here, below a folder: its configuration, and its units.

    :param addresses: of `pmem0` and so on, as the kernel numbers them.
    """
    for number, address in enumerate(addresses):
        device = folder / "sys" / "block" / f"pmem{number}" / "device"
        device.mkdir(parents=True)
        (device / "resource").write_text(f"{address}\n")
    source = Path(__file__).parents[2] / "src/firstlight_studies/lvm_activation/guest/generator.sh"
    (folder / "cmdline").write_text(f"console=ttyS0 quiet {words}\n")
    text = source.read_text().replace("/proc/cmdline", f"{folder}/cmdline").replace("/run/", f"{folder}/run/")
    text = text.replace("/sys/block", f"{folder}/sys/block")
    (folder / "generator.sh").write_text(text)
    units, first = folder / "units", folder / "units.early"
    units.mkdir()
    first.mkdir()
    subprocess.run(["sh", str(folder / "generator.sh"), str(units), str(first)], check=True, cwd=folder)
    found = ((folder / "run" / "lvm-study"), units)
    configuration, made = (
        {path.name: path.read_text() for path in place.iterdir() if path.is_file()} for place in found
    )
    kept = folder / "run" / "firstlight" / "export" / "errors"
    return configuration | ({"errors": kept.read_text()} if kept.exists() else {}), made


@pytest.mark.parametrize("setting", [setting.key for setting in SETTINGS])
def test_the_guest_sets_up_what_its_command_line_says(setting: str, tmp_path: Path) -> None:
    configuration, units = generated(tmp_path, Volumes(3, "groups").words(setting))
    assert "errors" not in configuration
    local = configuration["lvmlocal.conf"]
    assert ("global/event_activation=0" in local) == BY_KEY[setting].static
    assert ("lvm-activate-all.service" in units) == BY_KEY[setting].static
    assert ("Requires=" in units["volumes.service"]) == BY_KEY[setting].activates
    assert (local == "") == (setting == "event")
    assert configuration["system.devices"].count("PVID=F1rstlightphysicalvolumes00000") == 3 * (setting == "listed")


def test_volumes_of_several_disks_are_counted_on(tmp_path: Path) -> None:
    volumes = Volumes(252, "group")
    attached = ("0x100000000", "0x1120c00000", "0x123400000")  # the root, the second disk and the first
    configuration, units = generated(tmp_path, volumes.words("event", trace=True), attached)
    lines = [line.split() for line in configuration["volumes"].splitlines()]
    assert len(lines) == 252
    assert lines[0] == ["/dev/pmem2p1", "000001", "0001"]
    assert lines[-1] == ["/dev/pmem1p2", "000252", "0252"]
    assert "dev-all-v0252.device" in units["volumes.service"]
    assert "trace.service" in units
    assert "settled.sh trace" in units["settled.service"]


def test_volumes_are_made_without_udev_and_the_monitor(tmp_path: Path) -> None:
    _, units = generated(tmp_path, Volumes(3, "groups").words("prepare"))
    assert "prepare.sh groups 3" in units["prepare.service"]
    masked = {path.name for path in (tmp_path / "units.early").iterdir() if str(path.readlink()) == "/dev/null"}
    assert masked == {"systemd-udevd.service", "systemd-udev-trigger.service", "lvm2-monitor.service"}


def test_what_is_measured_masks_nothing(tmp_path: Path) -> None:
    generated(tmp_path, Volumes(3, "groups").words("event"))
    assert not list((tmp_path / "units.early").iterdir())


def test_a_setting_that_the_guest_does_not_know_is_reported(tmp_path: Path) -> None:
    configuration, _ = generated(tmp_path, "lvm.study=evnt,groups,3 lvm.disks=3")
    assert configuration["errors"] == "no such setting: evnt\n"


def test_a_boot_that_is_for_something_else_is_left_alone(tmp_path: Path) -> None:
    _, units = generated(tmp_path, "")
    assert units == {}
