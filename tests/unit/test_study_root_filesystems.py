"""The study of root file systems: its content, its figures and its verdicts."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import make_bundle
from firstlight.bundle.boot import Boot
from firstlight.errors import UsageError
from firstlight.lab.rootfs.filesystems import find_format
from firstlight.lab.rootfs.kernel_mounted import KernelRoot
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions
from firstlight.study.claims import claims_of
from firstlight.study.driver_modules import write_modules
from firstlight.study.guest_files import read_stamps
from firstlight.study.outcome import Finding
from firstlight.study.table import MissingValue
from firstlight.study.verdicts import evaluate
from firstlight_studies.root_filesystems import content, journal, storage
from firstlight_studies.root_filesystems.arms import KINDS, Roots, Way, arm_name
from firstlight_studies.root_filesystems.figures import RootEvidence, figures_of
from firstlight_studies.root_filesystems.journal import Tried
from firstlight_studies.root_filesystems.measures import FilesystemTimings, Measured, lpj_of, read_block_stat
from firstlight_studies.root_filesystems.probes import (
    Probed,
    Section,
    read_section,
    section_table,
)

MS = 1_000_000


@dataclass(frozen=True)
class Known(FilesystemTimings):
    """A boot whose figures are given, in nanoseconds."""

    boot: Boot = field(init=False)
    start: int
    printed: int = 0
    totals: dict[str, int] = field(default_factory=dict)

    @property
    def from_power_on(self) -> int:
        return self.start + 500 * MS

    @property
    def from_start_kernel(self) -> int:
        return self.start

    @property
    def mount(self) -> int:
        return self.total("mount")

    @property
    def console_bytes(self) -> int:
        return self.printed

    @cached_property
    def functions(self) -> pl.DataFrame:
        own = {"function": list(self.totals), "self_ns": list(self.totals.values())}
        return pl.DataFrame(own, schema={"function": pl.String, "self_ns": pl.Int64})

    def between(self, first: str, last: str) -> int:
        return self.total(f"{first} {last}")

    def total(self, function: str) -> int:
        return self.totals.get(function, 0)

    def count(self, function: str) -> int:
        return 1


def verdicts(evidence: RootEvidence) -> dict[str, Finding]:
    """Findings by claim, of a machine that times everything."""
    claims = claims_of("firstlight_studies.root_filesystems")
    return {found.id: found for found in evaluate(claims, figures_of(evidence), ())}


def arms(**starts: int) -> dict[str, FilesystemTimings | MissingValue]:
    """Arms by name with the milliseconds that they took; `_` stands for `-`."""
    return {name.replace("_", "-"): Known(value * MS) for name, value in starts.items()}


def had(mount: int, rest: int) -> storage.Had:
    return storage.Had(mount * MS, 0, rest * MS, 1, 1, 48)


class TestVerdicts:
    def test_without_any_boot_nothing_can_be_tested_and_each_says_why(self) -> None:
        for finding in verdicts(RootEvidence({})).values():
            assert finding.verdict == "not testable here"
            assert finding.now

    @pytest.mark.parametrize(
        ("placed", "verdict"),
        [(500, "holds"), (790, "holds in direction"), (900, "no longer holds")],
    )
    def test_executing_in_place_is_decided_from_power_on(self, placed: int, verdict: str) -> None:
        finding = verdicts(RootEvidence(arms(cramfs=800, cramfs_xip=placed)))["in-place"]
        assert finding.verdict == verdict
        assert f"{(placed - 800) / 1300:+.1%}".replace("%", " % from power on") in finding.now

    @pytest.mark.parametrize(("preset", "verdict"), [(580, "holds"), (799, "no longer holds")])
    def test_a_preset_lpj_has_to_save_a_tenth_at_least(self, preset: int, verdict: str) -> None:
        known = arms(cramfs=800) | {arm_name("cramfs", Way(lpj=4000)): Known(preset * MS)}
        assert verdicts(RootEvidence(known, lpj=4000))["preset-lpj"].verdict == verdict

    @pytest.mark.parametrize(("printed", "verdict"), [(9_000, "holds"), (1_000, "no longer holds")])
    def test_quiet_is_computed_with_the_time_of_a_line(self, printed: int, verdict: str) -> None:
        known = {"cramfs": Known(800 * MS, printed=printed), "cramfs-quiet": Known(790 * MS, printed=0)}
        finding = verdicts(RootEvidence(known))["quiet"]
        assert finding.verdict == verdict
        assert f"{printed:,} bytes" in finding.why

    def test_the_line_of_the_port_is_decided_by_the_machine(self) -> None:
        known = {"cramfs": Known(800 * MS, printed=9_000), "cramfs-quiet": Known(790 * MS, printed=0)}
        claims = claims_of("firstlight_studies.root_filesystems")
        found = {each.id: each for each in evaluate(claims, figures_of(RootEvidence(known)))}
        assert found["quiet"].verdict == "decided by the machine here"
        assert found["quiet"].why.startswith("The machine does not time: UART.")

    def test_direction_of_the_plain_comparisons(self) -> None:
        flash = {"cramfs-flash": had(5, 190), "romfs-flash": had(5, 700), "jffs2-flash": had(935, 78)}
        then = verdicts(RootEvidence(arms(cramfs=840, romfs=839, ext2_ram=2950, ext2=167, ext4=300, ext3_dirty=457,
                                          ext4_dirty=457), flash=flash, band=0.0001))  # fmt: skip
        assert [then[name].verdict for name in ("romfs", "jffs2", "ram-disk", "replay")] == ["holds"] * 4
        level = {name: had(5, 190 + (name != "jffs2-flash")) for name in flash}
        now = verdicts(RootEvidence(arms(cramfs=840, romfs=841, ext2_ram=836, ext2=830, ext4=830, ext3_dirty=831,
                                         ext4_dirty=831), flash=level))  # fmt: skip
        assert [now[name].verdict for name in ("romfs", "jffs2", "ram-disk", "replay")] == ["no longer holds"] * 4

    def test_a_change_inside_the_noise_band_is_none(self) -> None:
        found = verdicts(RootEvidence(arms(cramfs=840, romfs=839), band=0.01))["romfs"]
        assert (found.verdict, "inside the noise band" in found.now) == ("no longer holds", True)

    @pytest.mark.parametrize(
        ("code", "kept", "verdict"),
        [(0, content.SYNCED, "holds"), (0, 3, "no longer holds"), (1, content.SYNCED, "no longer holds")],
    )
    def test_a_deferred_replay_has_to_be_done_and_to_keep_every_file(self, code: int, kept: int, verdict: str) -> None:
        steps = {"remount": Tried(code, 0, 0, 1, ()), "next": Tried(0, kept, 0, 1, ())}
        assert verdicts(RootEvidence({}, replays={"xfs": steps}))["deferred-replay"].verdict == verdict

    def test_a_record_that_costs_nothing_is_stated_to_the_nanosecond(self) -> None:
        plain = Known(800 * MS, totals={"power_on ready": 1_300 * MS})
        finding = verdicts(RootEvidence({"initramfs": plain}, unprofiled=1_300 * MS))["instrumented"]
        assert (finding.verdict, finding.now) == ("no longer holds", "0 ns of virtual time")
        finding = verdicts(RootEvidence({"initramfs": plain}, unprofiled=1_100 * MS))["instrumented"]
        assert finding.verdict == "holds"

    @pytest.mark.parametrize(("pages", "tables", "verdict"), [(109, 61, "holds"), (2, 1, "no longer holds")])
    def test_pages_and_tables_are_decided_by_their_share(self, pages: int, tables: int, verdict: str) -> None:
        totals = {"memblock_free_all": pages * MS, "__register_sysctl_table": tables * MS}
        found = verdicts(RootEvidence({"cramfs": Known(843 * MS, totals=totals)}))
        assert (found["pages"].verdict, found["tables"].verdict) == (verdict, verdict)

    def test_a_probe_of_a_disk_and_of_an_empty_port(self) -> None:
        spinning = {"scsi_debug": Probed(262 * MS, 262 * MS, 250 * MS, "", True)}
        asleep = {"scsi_debug": Probed(MS, 300 * MS, 2 * MS, "", True)}
        assert verdicts(RootEvidence({}, probes=spinning))["probe"].verdict == "holds"
        assert verdicts(RootEvidence({}, probes=asleep))["probe"].verdict == "no longer holds"
        ports = {"ata_piix": Probed(MS, 2_000 * MS, 0, ""), "ata_piix-port-off": Probed(MS, 700 * MS, 0, "")}
        assert verdicts(RootEvidence({}, probes=ports))["empty-port"].verdict == "holds"
        missing = {"ahci": MissingValue("the kernel has no module `ahci`")}
        assert verdicts(RootEvidence({}, probes=missing))["probe"].now == "the kernel has no module `ahci`"

    @pytest.mark.parametrize(("longest", "verdict"), [(252, "holds"), (1, "no longer holds")])
    def test_the_longest_section_while_loading(self, longest: int, verdict: str) -> None:
        sections: dict[str, Section | MissingValue] = {
            "boot": Section(999 * MS, "a", "b", "init"), "loading ahci": Section(longest * MS, "a", "b", "insmod"),
        }  # fmt: skip
        assert verdicts(RootEvidence({}, sections=sections))["preemption"].verdict == verdict


class TestContent:
    def test_is_the_same_each_time_and_its_sums_are_right(self, tmp_path: Path) -> None:
        overlay = content.write_content(tmp_path)
        lines = (overlay / "usr/share/data.md5").read_text().splitlines()
        assert len(lines) == content.FILES
        for line in lines:
            digest, name = line.split("  ")
            assert hashlib.md5((overlay / name).read_bytes(), usedforsecurity=False).hexdigest() == digest
        assert (overlay / "srv").is_dir()

    def test_expects_what_the_guest_writes(self) -> None:
        if shutil.which("seq") is None:
            pytest.skip("no seq")
        written = subprocess.run(["seq", "9", "7", "360"], capture_output=True, check=True).stdout
        assert content.written_files()["srv/synced/9"] == written


class TestArms:
    def test_every_kind_is_booted_and_only_the_way_differs(self, tmp_path: Path) -> None:
        roots = Roots(tmp_path / "bzImage", tmp_path)
        plain, quiet = roots.arm("romfs"), roots.arm("romfs", Way(quiet=True, lpj=4000))
        assert (plain.name, quiet.name) == ("romfs", "romfs-quiet-lpj")
        assert isinstance(plain.options, RecordOptions)
        assert isinstance(quiet.options, RecordOptions)
        assert (plain.options.append, quiet.options.append) == ("", "quiet lpj=4000")
        assert plain.options.guest_commands == quiet.options.guest_commands
        assert set(storage.KINDS) < set(KINDS)

    def test_without_a_kernel_each_is_a_hole(self, tmp_path: Path) -> None:
        roots = Roots(MissingValue("no source"), tmp_path)
        assert roots.arm("ext4").options == MissingValue("no source")
        assert roots.image("ext4") == MissingValue("no source")
        each = journal.JOURNALS[0]
        assert [arm.options for arm in journal.root_arms(roots, each, MissingValue("no image"))] == [
            MissingValue("no image")
        ] * 2
        assert write_modules(MissingValue("no source"), "ahci", tmp_path) == MissingValue("no source")


class TestStorage:
    def test_pieces_leave_out_what_is_empty_and_join_what_is_near(self, tmp_path: Path) -> None:
        image = tmp_path / "image"
        pages = bytearray(4096 * 400)
        for page in (0, 10, 300):
            pages[page * 4096] = 1
        image.write_bytes(pages)
        assert list(storage.pieces(image)) == [(0, 11), (300, 1)]

    def test_a_ram_disk_and_an_archive_are_read_whole_first(self, tmp_path: Path) -> None:
        path = tmp_path / "image"
        path.write_bytes(b"x" * 8192)
        for kind, word in (("ext2-ram", "of=/dev/ram0"), ("initramfs", "cpio -idm"), ("ext4", "mount -t ext4 -o ro")):
            image = KernelRoot(find_format(kind), path, "0" * 64, 8192, 8192)
            assert word in storage.commands(kind, image, storage.MODELS[0])[0]


class TestWhatTheGuestLeaves:
    def test_stamps_and_requests_that_are_damaged_are_left_out(self) -> None:
        assert read_stamps("") == {}
        assert read_stamps("12 a b\n\ufffd\n13\n") == {"a b": 12}
        assert read_block_stat(None) is None
        assert read_block_stat(b"29 x") is None

    def test_a_boot_without_what_a_figure_needs_has_a_hole_there(self, tmp_path: Path) -> None:
        boot = firstlight.open(make_bundle(tmp_path / "a.boot"))
        measured = FilesystemTimings(boot)
        assert isinstance(measured.between("power_on", "no_such_mark"), MissingValue)
        assert isinstance(measured.reading, MissingValue)
        assert isinstance(measured.used, MissingValue)
        assert isinstance(measured.kept_number("data"), MissingValue)
        assert measured.requests == (0, 0)
        assert isinstance(storage.had(boot, "ext4"), MissingValue)
        assert journal.tried(boot, journal.JOURNALS[0]) == {}
        assert isinstance(lpj_of(MissingValue("panic")), MissingValue)

    def test_steps_are_read_with_what_the_kernel_said_of_each(self, tmp_path: Path) -> None:
        bundle = make_bundle(tmp_path / "a.boot")
        kept = bundle / "raw" / "guest-files"
        kept.mkdir(parents=True)
        (kept / "steps").write_text("replay 0 120 3\nremount 255 0 0\nnonsense\nnext x y z\n")
        (kept / "stamps").write_text("100 replay begin\n350 replay end\n")
        found = journal.tried(firstlight.open(bundle), journal.JOURNALS[0])
        assert (found["replay"].synced, found["replay"].late, found["replay"].took) == (120, 3, 250)
        assert found["remount"].code == 255
        assert isinstance(found["remount"].took, MissingValue)
        assert set(found) == {"replay", "remount"}

    def test_a_section_without_names_is_still_one(self) -> None:
        assert read_section(5, "") == Section(5000, "", "", "")
        table = section_table({"boot": Section(5000, "a", "b", "insmod"), "loading x": MissingValue("no tracer")})
        assert table.gaps()[0][2] == "no tracer"


class TestAnotherArchitecture:
    """Where the lab's kernel is not made, the distribution's has its drivers as modules."""

    ARM = architecture_of("aarch64")

    def test_an_archive_is_the_only_root_and_every_kind_keeps_its_place_elsewhere(self, tmp_path: Path) -> None:
        there = Roots(None, tmp_path, self.ARM)
        assert [kind for kind in KINDS if there.boots(kind)] == ["initramfs"]
        assert all(Roots(tmp_path, tmp_path).boots(kind) for kind in KINDS)
        check_choices(RecordOptions(tmp_path / "a.boot", arch="arm64", root_as="initramfs"), self.ARM)
        with pytest.raises(UsageError, match="cannot be booted with `--root-as`"):
            check_choices(RecordOptions(tmp_path / "a.boot", arch="arm64", root_as="ext4"), self.ARM)

    def test_an_image_comes_as_a_file_without_its_zeros_and_is_laid_out_as_it_was(self, tmp_path: Path) -> None:
        pages = {0: b"a" * 4096, 10: b"b" * 4096, 300: b"c" * 4096}
        image = tmp_path / "image"
        image.write_bytes(b"".join(pages.get(page, bytes(4096)) for page in range(301)))
        root = KernelRoot(find_format("ext4"), image, "0", image.stat().st_size, 3 * 4096)
        (steps, _) = storage.commands("ext4", root, storage.MODELS[0], bundled=True)
        copies = [line for line in steps.splitlines() if line.startswith("dd if=/images/ext4")]
        # The file has the pieces one after another: 11 pages, then one.
        assert [line.split(" bs=4096 ")[1] for line in copies] == [
            "skip=0 seek=0 count=11 conv=notrunc 2>/dev/null", "skip=11 seek=300 count=1 conv=notrunc 2>/dev/null",
        ]  # fmt: skip
        assert "/sys/block/pmem" not in steps
        assert "/sys/block/pmem" in storage.commands("ext4", root, storage.MODELS[0])[0]

    def test_what_was_not_booted_has_the_reason_in_tables_and_claims(self) -> None:
        reason = MissingValue("it cannot mount such a root")
        arms = Measured({"initramfs": Known(900 * MS)}, reason)
        assert arms["cramfs"] == reason
        figures = figures_of(RootEvidence(arms, nothing=reason))
        claims = claims_of("firstlight_studies.root_filesystems")
        found = {each.id: each for each in evaluate(claims, figures, architecture=self.ARM)}
        assert (found["replay"].verdict.value, found["replay"].now) == ("not testable here", reason.reason)
        assert found["jffs2"].now == found["in-place"].now == reason.reason
        assert found["empty-port"].now == "does not apply on arm64, because a guest there has no IDE controller"
        assert found["pages"].verdict.value == "no longer holds"

    def test_a_quick_run_shows_only_the_journals_that_it_boots(self) -> None:
        nothing = MissingValue("not booted")
        arms = Measured(dict.fromkeys(("ext2", "ext3", "ext3-dirty", "ext3-dirty-noload"), nothing), nothing)
        assert [row[0] for row in journal.root_table(arms).rows] == ["ext2", "ext3", "ext3-dirty", "ext3-dirty-noload"]
        assert {row[0] for row in journal.replay_table({"ext3": nothing}).rows} == {"ext3"}
