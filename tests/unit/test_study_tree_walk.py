"""The study of tree walks: what is run, what is read from a boot, and what is concluded from it."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import make_bundle, settle, write_table
from firstlight.bundle.boot import Boot
from firstlight.errors import LabError, UsageError
from firstlight.lab.rootfs.libraries import needed_libraries
from firstlight.lab.rootfs.programs import programs_of
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions
from firstlight.stats.scaling.analysis import study
from firstlight.study.claims import claims_of
from firstlight.study.outcome import Finding
from firstlight.study.table import MissingValue
from firstlight.study.verdicts import evaluate
from firstlight_studies.tree_walk.counts import Counted, counted, counts_table, functions_table
from firstlight_studies.tree_walk.figures import TreeWalkEvidence, figures_of
from firstlight_studies.tree_walk.measured import WalkTimings, runs_of, system_calls, why_nothing
from firstlight_studies.tree_walk.model import WalkModel, law_of, law_table
from firstlight_studies.tree_walk.path_calls import path_calls
from firstlight_studies.tree_walk.penalty import Penalty, alternation_table, penalties, penalty_table
from firstlight_studies.tree_walk.plan import AUDIT, MANNERS, Alternated, Ground, Sized, plan_of
from firstlight_studies.tree_walk.traps import (
    Audit,
    Point,
    Wake,
    audit_of,
    points_table,
    unit_table,
    wakes_table,
)
from firstlight_studies.tree_walk.workload import TOOLS, WALK, Command, Shape, Workload, file_systems

CHGRP = TOOLS[0]
NOTHING = MissingValue("the guest left no figures")


def boot_with(
    folder: Path,
    kept: dict[str, str],
    users: dict[str, int] | None = None,
    calls: dict[str, tuple[int, int]] | None = None,
) -> Boot:
    """An invented boot that left files, and has a row of the profile for each process and function."""
    bundle = make_bundle(folder, name=f"{len(list(folder.iterdir()))}.boot")
    (bundle / "raw" / "guest-files").mkdir()
    for name, text in kept.items():
        (bundle / "raw" / "guest-files" / name).write_text(text, encoding="utf-8")
    frame = firstlight.open(bundle).calls()
    node = frame.height
    rows = [(f"[user {name}]", "user", 1, time) for name, time in (users or {}).items()]
    rows += [(name, "function", count, time) for name, (count, time) in (calls or {}).items()]
    more = [
        {"node": node + place, "parent": 0, "function": name, "module": None, "kind": kind, "calls": count,
         "self_instructions": time, "total_instructions": time, "self_ns": time, "total_ns": time}
        for place, (name, kind, count, time) in enumerate(rows)
    ]  # fmt: skip
    if more:
        write_table(bundle, "calls", pl.concat([frame, pl.DataFrame(more, schema=frame.schema)]))
        settle(bundle)
    return firstlight.open(bundle)


def run_line(name: str, before: int, after: int, status: int = 0, complaint: str = "", faults: int = 46) -> str:
    return "\t".join(map(str, (name, before, after, 3000, 7000, faults, 0, 1, 2, status, complaint))) + "\n"


def measured(elapsed: int, user: int = 100, faults: int = 46) -> WalkTimings:
    return WalkTimings(elapsed, user, 10, 0, 1_000, 2_000, faults, 0, 0, "")


def alternated(command: Command = CHGRP) -> list[Alternated]:
    return [Alternated(command, manner, number, f"{number}-{manner}") for number in (1, 2, 3) for manner in MANNERS]


@pytest.mark.parametrize("text", ["", "0x3", "70x", "x70", "7 x 7", "-7", "1e3", "2000x2000", "x".join(["1"] * 101)])
def test_what_is_no_tree_or_too_large_a_one_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"not a shape|too large"):
        Shape.parse(text)


def test_a_command_has_the_tree_where_it_says_or_at_its_end() -> None:
    assert Command.parse("find {} -xdev").line("/t/z") == "find /t/z -xdev"
    assert Command.parse("chmod -R 'u=rwX,go='").line("/t/z") == "chmod -R u=rwX,go= /t/z"
    assert Command.parse("sh -c 'ls {}; rm x'").line("/t/z") == "sh -c 'ls /t/z; rm x'"
    for text in ("", "'", "ls\x1b[31m"):
        with pytest.raises(UsageError, match="not a command"):
            Command.parse(text)
    with pytest.raises(UsageError, match="btrfs"):
        file_systems("tmpfs,btrfs")


def test_a_run_is_divided_into_user_runner_and_the_rest_exactly(tmp_path: Path) -> None:
    lines = run_line("1.1-with", 1_000, 91_000) + "no line of ours\n" + run_line("2.1-with", 0, 5, 1, "rm: no")
    boot = boot_with(tmp_path, {"runs": lines + "a\tb\n"}, {"1.1-with": 30_000, "+1.1-with": 500, "sh": 7})
    found = runs_of(boot)
    run = found["1.1-with"]
    assert isinstance(run, WalkTimings)
    assert (run.elapsed_ns, run.user_ns, run.runner_ns, run.system_ns) == (90_000, 30_000, 500, 59_500)
    assert (run.ticks_user_ns, run.ticks_system_ns, run.minor_faults) == (3_000_000, 7_000_000, 46)
    assert found["2.1-with"] == MissingValue("it ended with 1: rm: no")
    assert len(found) == 2


def test_a_guest_that_could_not_prepare_says_why(tmp_path: Path) -> None:
    failed = boot_with(tmp_path, {"failed": "mount -t xfs /dev/ram0 /t: unknown filesystem type\n"})
    assert why_nothing(failed) == MissingValue("mount -t xfs /dev/ram0 /t: unknown filesystem type")
    assert why_nothing(boot_with(tmp_path, {})) == NOTHING
    assert why_nothing(MissingValue("no kernel")) == MissingValue("no kernel")


def test_the_penalty_is_the_difference_of_the_shortest_runs_for_each_directory() -> None:
    elapsed = {"without": (180, 100, 110), "with": (130, 190, 200)}
    runs = {
        f"{number}-{manner}": measured(elapsed[manner][number - 1] * 1000, faults=46 if manner == "without" else 48)
        for manner in elapsed
        for number in (1, 2, 3)
    }
    penalty = penalties("tmpfs", alternated(), runs, 10, NOTHING)[CHGRP]
    assert isinstance(penalty, Penalty)
    assert (penalty.cost_ns, penalty.relative, penalty.each_ns, penalty.faults) == (30_000, 0.3, 3_000, 2)
    assert penalty.system_ns + penalty.user_ns == penalty.cost_ns
    table = alternation_table("tmpfs", alternated(), runs, [CHGRP], NOTHING)
    assert [row[0] for row in table.rows][:2] == ["chgrp -R 1000, without, 1", "chgrp -R 1000, without, 2"]


def test_one_failed_run_leaves_its_program_a_hole_and_the_others_their_figures() -> None:
    order = [*alternated(), *alternated(WALK)]
    runs: dict[str, WalkTimings | MissingValue] = {each.name: measured(100) for each in alternated(WALK)}
    order = [replace(each, name=f"c{each.name}") if each.command == CHGRP else each for each in order]
    runs["c1-without"] = MissingValue("it ended with 127: no chgrp")
    found = penalties("xfs", order, runs, 10, NOTHING)
    assert found[CHGRP] == MissingValue("it ended with 127: no chgrp")
    assert isinstance(found[WALK], Penalty)
    table = penalty_table({"xfs": found}, 10, "3x3")
    assert {reason for _, _, reason in table.gaps()} == {"it ended with 127: no chgrp"}


def test_system_calls_are_those_of_the_program_alone_and_whole_for_each_directory(tmp_path: Path) -> None:
    base = boot_with(tmp_path, {}, calls={"__x64_sys_newfstatat": (40, 400), "__x64_sys_statx": (5, 50)})
    calls = {
        "__x64_sys_newfstatat": (40 + 2 * 4971 + 26, 9_000),
        "__x64_sys_statx": (5, 50),
        "__x64_sys_fchownat": (4971, 1),
    }
    found = counted(boot_with(tmp_path, {}, calls=calls), base, 4971)
    assert isinstance(found, Counted)
    assert (found.stats, found.each(found.stats)) == (9968, (2, 26))
    row = counts_table({("tmpfs", CHGRP): found, ("tmpfs", TOOLS[1]): MissingValue("no chmod")}).rows
    assert row[0][2:5] == (9968, 2, 26)
    assert row[1][2] == MissingValue("no chmod")
    assert Counted({}, 3).each(32) == (10.667, None)


def test_where_the_further_stat_spends_its_time_adds_up(tmp_path: Path) -> None:
    without = boot_with(tmp_path, {}, calls={"path_lookupat": (10, 1_000), "getname_flags": (10, 500)})
    with_ = boot_with(tmp_path, {}, calls={"path_lookupat": (20, 2_500), "getname_flags": (20, 900)})
    table = functions_table(without, with_, 10)
    assert not isinstance(table, MissingValue)
    assert table.rows[0][:4] == ("path_lookupat", 10, 1_500, 150.0)
    assert [sum(value for row in table.rows[:-1] if isinstance(value := row[2], int)), table.rows[-1][2]] == [
        1_900,
        1_900,
    ]
    assert functions_table(with_, without, 10) == MissingValue("our walk took no longer with the further stat")


def test_a_penalty_that_is_the_same_for_each_directory_has_the_law_n() -> None:
    shapes = [Shape.parse(text) for text in ("7x7", "10x10", "20x20", "40x40", "70x70", "100x100")]
    order = [Sized(shape, manner, f"{shape}-{manner}") for shape in shapes for manner in MANNERS]
    runs = {
        each.name: measured(1_000_000 + each.shape.directories * (18_000 if each.manner == "without" else 20_050))
        for each in order
    }
    law = law_of(order, runs, NOTHING)
    assert not isinstance(law.penalty, MissingValue)
    assert (law.penalty.law, round(law.penalty.best.slope)) == ("n", 2_050)
    assert law_table({"tmpfs": law}).rows[0][5] == 2_050
    few = law_of(order[:4], runs, NOTHING)
    assert few.penalty == MissingValue("2 sizes are too few for a law; 5 are needed")
    assert law_of(order, {}, NOTHING).penalty == NOTHING


def test_a_missing_tool_stops_its_own_arm_only(tmp_path: Path) -> None:
    ground = Ground(
        tmp_path / "vmlinuz",
        tmp_path,
        MissingValue("no mmdebstrap"),
        {"mkfs.xfs": MissingValue("no mkfs.xfs"), "du": MissingValue("no du")},
    )
    work = Workload(
        Shape.parse("7x7"), counts_on=("tmpfs",), law_on=("xfs",), sizes=(Shape.parse("7x7"),), automount_unit=True
    )
    arms = {arm.name: arm.options for arm in plan_of(work, ground).arms}
    gaps = {name: options.reason for name, options in arms.items() if isinstance(options, MissingValue)}
    assert gaps == {
        "alternation-xfs": "no mkfs.xfs", "law-xfs": "no mkfs.xfs", "count-05-du--s-tmpfs": "no du",
        "automount-unit": "no mmdebstrap",
    }  # fmt: skip
    beside = {arm.name: arm.options for arm in plan_of(work, replace(ground, stock=True)).arms}
    words = {name: each.append for name, each in beside.items() if isinstance(each, RecordOptions)}
    assert words["alternation-tmpfs-stock-kernel"] == "", "a kernel without disks in memory reads no size of them"
    assert words["alternation-tmpfs"].startswith("ramdisk_size=")
    nothing = plan_of(work, replace(ground, kernel=MissingValue("no source package"))).arms
    assert {arm.options for arm in nothing} >= {MissingValue("no source package")}
    assert all(isinstance(arm.options, MissingValue) for arm in nothing)
    assert AUDIT in arms


ARM = architecture_of("aarch64")


def test_where_the_lab_has_no_kernel_drivers_are_loaded_only_where_they_are_needed(tmp_path: Path) -> None:
    ground = Ground(
        None,
        tmp_path,
        NOTHING,
        architecture=ARM,
        loads=frozenset({"brd", "autofs4"}),
        lacking={"xfs": MissingValue("no module `xfs`")},
    )
    work = Workload(Shape.parse("7x7"), counts_on=("tmpfs",))
    arms = {arm.name: arm.options for arm in plan_of(work, ground).arms}
    assert {name for name, options in arms.items() if isinstance(options, MissingValue)} == {"alternation-xfs"}
    assert arms["alternation-xfs"] == MissingValue("no module `xfs`")
    booted = {name: options for name, options in arms.items() if isinstance(options, RecordOptions)}
    loading = {name for name, options in booted.items() if "insmod" in options.guest_commands[0]}
    assert loading == {"alternation-ext4", AUDIT}
    assert "rd_size=393672 >" in booted["alternation-ext4"].guest_commands[0]
    # A disk is a module there, and no word of its command line is of another processor.
    assert {options.append for options in booted.values()} == {""}
    assert not any("stock" in name for name in arms)
    given = plan_of(work, replace(ground, kernel=tmp_path / "Image")).arms
    assert {arm.options.append for arm in given if isinstance(arm.options, RecordOptions)} == {""}
    built_in = plan_of(work, replace(ground, kernel=tmp_path / "Image", loads=frozenset({"autofs4"}))).arms
    assert all("ramdisk_size=" in arm.options.append for arm in built_in if isinstance(arm.options, RecordOptions))


@pytest.mark.parametrize(
    ("lacking", "gone"), [("autofs4", {AUDIT}), ("brd", {"alternation-ext4", "alternation-xfs"}), ("overlay", set())]
)
def test_a_driver_that_the_kernel_has_not_stops_what_needs_it(tmp_path: Path, lacking: str, gone: set[str]) -> None:
    why = MissingValue(f"the kernel has no module `{lacking}`")
    ground = Ground(None, tmp_path, NOTHING, architecture=ARM, lacking={lacking: why})
    arms = plan_of(Workload(Shape.parse("7x7")), ground).arms
    assert {arm.name for arm in arms if arm.options == why} == gone


def test_system_calls_are_those_of_the_guests_architecture(tmp_path: Path) -> None:
    boot = boot_with(tmp_path, {}, calls={"__arm64_sys_newfstatat": (7, 70), "__x64_sys_statx": (5, 50)})
    assert system_calls(boot) == {"statx": 5}
    (place,) = tmp_path.glob("*.boot/manifest.json")
    manifest = json.loads(place.read_text(encoding="utf-8"))
    manifest["recipe"]["architecture"] = "aarch64"
    place.write_text(json.dumps(manifest), encoding="utf-8")
    assert system_calls(firstlight.open(place.parent)) == {"newfstatat": 7}


POINTS = (
    "/t/bound\ttmpfs\t6\t5\t0:23\t0:23\t1\t0\n/t/d/trap\tautofs\t4\t99\t0:27\t0:23\t1\t0\n"
    "/t/p\t-\t3\t3\t0:2\t0:2\t0\t-\n/gone\t-\t-\t-\t-\t-\t-\t-\n"
)
WAKES = (
    "call stat\tasleep\t0\t-\t0:27 9\t0:27 9\t0\ncall lstat\tasleep\t0\t-\t0:27 9\t0:27 9\t0\n"
    "call fstatat\tasleep\t0\t-\t0:27 9\t0:27 9\t0\ncall open\twoken\t1\t2 0x7f 0x88000 0x0\t0:27 9\t0:28 1\t0\n"
    "call opendir\twoken\t1\t2 0x7f 0x98000 0x0\t0:27 9\t0:28 1\t0\n"
    "call statx\twoken\t1\t332 0x0 0x1 0x0\t0:27 9\t0:28 1\t0\n"
    "du -s /t/d\tmissing\t0\t-\t-\t-\t-\nrubbish\n"
)


def test_the_audit_is_read_with_what_it_cannot_know(tmp_path: Path) -> None:
    audit = audit_of(boot_with(tmp_path, {"points": POINTS + "half a line\t", "wakes": WAKES}))
    assert isinstance(audit, Audit)
    assert [point.differs for point in audit.points] == [True, True, False, None]
    assert audit.missing == ("du -s /t/d",)
    rows = points_table(audit).rows
    assert rows[1][:5] == ("/t/d/trap", "automount, asleep", 4, 99, "no")
    assert isinstance(rows[3][2], MissingValue)
    table = wakes_table(audit)
    assert [row[2] for row in table.rows if row[1] == "woken"] == ["open", "open (O_DIRECTORY)", "statx (no flags)"]
    assert "Not in the guest: du -s /t/d." in table.below
    assert audit_of(boot_with(tmp_path, {"failed": "mount: no\n"})) == MissingValue("mount: no")


def test_an_automount_that_systemd_did_not_arm_is_a_gap_in_its_row(tmp_path: Path) -> None:
    table = unit_table(boot_with(tmp_path, {"unit-wakes": "stat /srv/trap\t1\t0\nfind /srv\t1\t1\ndu /srv\t0\t0\n?\n"}))
    assert not isinstance(table, MissingValue)
    assert [row[1] for row in table.rows] == ["asleep", "woken", MissingValue("systemd did not arm the automount")]
    assert unit_table(MissingValue("no Debian")) == MissingValue("no Debian")
    assert unit_table(boot_with(tmp_path, {})) == NOTHING


def test_a_call_that_nobody_knows_is_shown_by_its_number() -> None:
    calls = path_calls("x86_64")
    assert calls.text("999 0x1") == "system call 999"
    assert calls.text("257 0x4") == "openat"
    assert calls.text("?") == "?"
    assert path_calls("riscv64").text("56 0x4") == "system call 56"


def penalty(relative: float, faults: int = 0, user: int = 0) -> Penalty:
    cost = round(1_000_000 * relative)
    return Penalty("tmpfs", CHGRP, 100, 1_000_000, 1_000_000 + cost, user, cost - user, faults)


def counts(**each: int) -> dict[Command, Counted | MissingValue]:
    return {
        command: Counted({"newfstatat": each[command.program] * 4971 + 26}, 4971)
        for command in TOOLS
        if command.program in each
    }


def linear(slope: float) -> WalkModel:
    sizes = [57, 111, 421, 1641, 4971, 10101]
    fitted = study(sizes, [slope * size for size in sizes], exact=True)
    return WalkModel((), fitted, fitted)


def findings_of(evidence: TreeWalkEvidence) -> tuple[Finding, ...]:
    return evaluate(claims_of("firstlight_studies.tree_walk"), figures_of(evidence))


def verdicts(evidence: TreeWalkEvidence) -> list[str]:
    return [finding.verdict for finding in findings_of(evidence)]


def audit(stat: bool = False, same: bool = False) -> Audit:
    point = Point("/t/b", "tmpfs", 6, 6 if same else 5, "0:1", "0:1", True, False)
    after = "0:1 2" if same else "0:9 1"
    wakes = tuple(
        Wake(f"call {name}", woken, "", "0:1 2", after if woken else "0:1 2", 0)
        for name, woken in (("stat", stat), ("lstat", stat), ("fstatat", stat), ("open", True), ("opendir", True))
    )
    return Audit((point,), (), wakes, ())


def test_without_figures_nothing_is_concluded_and_every_reason_is_reported() -> None:
    findings = findings_of(TreeWalkEvidence())
    assert {finding.verdict for finding in findings} == {"not testable here"}
    assert all(finding.now for finding in findings)


def test_what_was_concluded_then_holds_on_figures_like_those_of_then() -> None:
    few = counts(chgrp=2, chmod=2, rm=2, du=3, find=3)
    evidence = TreeWalkEvidence({CHGRP: penalty(0.22)}, few, linear(2_000), audit(), {CHGRP: penalty(0.09)})
    assert verdicts(evidence) == ["holds"] * 9
    told = findings_of(evidence)
    assert told[0].now == "+22.0 % on tmpfs, 2.200 us per directory; the lab's kernel +9.0 %"
    one_kernel = TreeWalkEvidence({CHGRP: penalty(0.22)}, few, linear(2_000), audit(), kernel="the given kernel")
    told = findings_of(one_kernel)
    assert told[0].now == "+22.0 % on tmpfs, 2.200 us per directory"
    assert told[3].now.endswith(", with the given kernel")
    assert "chgrp 2, chmod 2, rm 2, du 3, find 3" in told[5].now
    not_built = replace(evidence, beside={CHGRP: MissingValue("no source package")})
    assert findings_of(not_built)[0].now == "+22.0 % on tmpfs, 2.200 us per directory"
    weaker = TreeWalkEvidence({CHGRP: penalty(0.134)}, few, linear(2_000), audit())
    assert findings_of(weaker)[0].verdict == "holds in direction"


def test_it_no_longer_holds_on_figures_unlike_those_of_then() -> None:
    sizes = [57, 111, 421, 1641, 4971, 10101]
    squared = study(sizes, [size**2 for size in sizes], exact=True)
    all_the_same = counts(chgrp=2, chmod=2, rm=2, du=2, find=2)
    evidence = TreeWalkEvidence(
        {CHGRP: penalty(0.01, faults=3, user=9_000)},
        all_the_same,
        WalkModel((), squared, squared),
        audit(stat=True, same=True),
    )
    found = {finding.id: finding.verdict.value for finding in findings_of(evidence)}
    assert found.pop("laptop") == "not testable here"
    assert set(found.values()) == {"no longer holds"}


def test_a_tree_too_small_for_whole_numbers_leaves_who_pays_open() -> None:
    small = {command: Counted({"newfstatat": 20}, 7) for command in TOOLS}
    assert findings_of(TreeWalkEvidence(counts=small))[5].verdict == "not testable here"


def tar_of(path: Path, files: dict[str, bytes], links: dict[str, str]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_programs_come_with_the_libraries_that_they_need_through_every_link(tmp_path: Path) -> None:
    shell = Path("/bin/sh").resolve().read_bytes()
    interpreter, *libraries = needed_libraries(shell, "/bin/sh")
    assert "libc.so.6" in libraries
    found = {name: Path("/lib/x86_64-linux-gnu", name).resolve().read_bytes() for name in libraries}
    files = {f"./usr/lib/x86_64-linux-gnu/{name}.real": content for name, content in found.items()}
    files |= {"./usr/bin/sh.real": shell, f"./usr{interpreter}": Path(interpreter).resolve().read_bytes()}
    files["./var/lib/dpkg/status"] = b"Package: dash\nStatus: ok\nVersion: 0.5-12\n\nPackage: libc6\nVersion: 2.36\n"
    links = {f"./usr/lib/x86_64-linux-gnu/{name}": f"{name}.real" for name in found}
    links |= {"./bin": "usr/bin", "./lib": "usr/lib", "./lib64": "usr/lib64", "./usr/bin/sh": "/bin/sh.real"}
    programs = programs_of(tar_of(tmp_path / "a.tar", files, links), ["sh", "mkfs.xfs"])
    assert programs.files["sh"] == shell
    assert programs.files["lib/x86_64-linux-gnu/libc.so.6"] == found["libc.so.6"]
    assert programs.files[interpreter.lstrip("/")]
    assert programs.missing == ("mkfs.xfs",)
    assert programs.versions == {"dash": "0.5-12", "libc6": "2.36"}
    lost = {name: content for name, content in files.items() if "libc.so" not in name}
    with pytest.raises(LabError, match=r"libc\.so\.6"):
        programs_of(tar_of(tmp_path / "b.tar", lost, links), ["sh"])


def test_a_damaged_or_circular_userspace_is_an_error_or_has_no_programs(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"no tar")
    with pytest.raises(LabError, match="cannot read the root file system"):
        programs_of(tmp_path / "a.tar", ["sh"])
    circle = tar_of(tmp_path / "b.tar", {}, {"bin": "usr/bin", "usr": "bin/usr"})
    assert programs_of(circle, ["sh"]).missing == ("sh",)
    damaged = {"./usr/bin/sh": b"\x7fELF\x02\x01" + b"\xff" * 200}
    assert programs_of(tar_of(tmp_path / "c.tar", damaged, {"./bin": "usr/bin"}), ["sh"]).files == {
        "sh": damaged["./usr/bin/sh"]
    }
