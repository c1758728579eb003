"""What QEMU may do on this machine."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from firstlight.lab.host.landlock import Access, version
from firstlight.lab.host.process import Confined, Process
from firstlight.lab.qemu.command_line import RunFiles
from firstlight.lab.qemu.confinement import SWITCH, files_are_confined, filter_words, launch
from firstlight.lab.qemu.emulator import Qemu
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.recipe import Files, Recipe

needs_landlock = pytest.mark.skipif(version() == 0, reason="this kernel has no Landlock")

QEMU = Qemu(Path("/usr/bin/qemu-system-x86_64"), (7, 2, 0), "", True, True, (Path("/usr/share/qemu"),))


def recipe(**chosen: object) -> Recipe:
    return Recipe(
        architecture=X86_64.name,
        machine=X86_64.machine,
        cpu=X86_64.cpu,
        memory=512 << 20,
        command_line="",
        chosen=Choices(**chosen),  # type: ignore[arg-type]
        files=Files(kernel=Path("/k"), initrd=Path("/i"), image=Path("/images/root"), qemu=QEMU.path),
        image_size=4096,
    )


def run(script: str, folder: Path, confined: Confined | None) -> tuple[int, str]:
    """Run a script of the shell; returns its exit code and what it said."""
    folder.mkdir(exist_ok=True)
    with Process(["/bin/sh", "-c", script], folder / "log", confined) as process:
        process.wait(30)
        ended = process.end()
    return ended.exit_code, (folder / "log").read_text()


@needs_landlock
class TestAConfinedProgram:
    @pytest.fixture
    def confined(self, tmp_path: Path) -> Confined:
        system = {Path(path): Access.RUN for path in ("/usr", "/bin", "/lib", "/lib64")}
        system |= {Path("/etc/ld.so.cache"): Access.READ, Path("/dev/null"): Access.DEVICE}
        (tmp_path / "input").write_text("input\n")
        (tmp_path / "secret").write_text("secret\n")
        return Confined(
            {
                **system,
                tmp_path / "input": Access.READ_FILE,
                tmp_path / "run": Access.OWN,
                tmp_path / "none": Access.OWN,
            }
        )

    def test_reads_what_it_was_given_and_writes_into_its_folder(self, tmp_path: Path, confined: Confined) -> None:
        code, said = run(
            "cat ../input && cat ../input > copy && mv copy other && cat other", tmp_path / "run", confined
        )
        assert (code, said) == (0, "input\ninput\n")

    @pytest.mark.parametrize(
        "script",
        [
            "cat ../secret",
            "cat /etc/passwd",
            "ls ..",
            "echo x > ../new",
            "echo x > ../input",
            "mkdir ../folder",
            "rm ../secret",
            "ln -s /etc/passwd link",
            "echo x > y && mv y ../y",
        ],
    )
    def test_reaches_nothing_else(self, tmp_path: Path, confined: Confined, script: str) -> None:
        before = sorted(path.name for path in tmp_path.iterdir())
        code, said = run(script, tmp_path / "run", confined)
        assert code != 0
        assert "ermission denied" in said
        after = sorted(path.name for path in tmp_path.iterdir())
        assert [name for name in after if name != "run"] == [name for name in before if name != "run"]
        assert (tmp_path / "input").read_text() == "input\n"
        assert run(script, tmp_path / "run", None)[0] == 0

    def test_leaves_this_program_as_free_as_it_was(self, tmp_path: Path, confined: Confined) -> None:
        run("true", tmp_path / "run", confined)
        (tmp_path / "mine").write_text((tmp_path / "secret").read_text())
        assert run("cat ../secret", tmp_path / "run", None) == (0, "secret\n")

    def test_outlives_the_call_that_started_it(self, tmp_path: Path, confined: Confined) -> None:
        (tmp_path / "run").mkdir()
        with Process(["/bin/sh", "-c", "sleep 1; echo done"], tmp_path / "run" / "log", confined) as process:
            ended = process.wait(30)
        assert ended is not None
        assert ended.exit_code == 0
        assert (tmp_path / "run" / "log").read_text() == "done\n"

    def test_starts_no_program_from_elsewhere(self, tmp_path: Path, confined: Confined) -> None:
        program = shutil.copy("/bin/true", tmp_path / "outside")
        code, said = run(str(program), tmp_path / "run", confined)
        assert (code, "ermission denied" in said) == (126, True)


class TestQemu:
    def test_filters_its_own_system_calls_where_it_can(self) -> None:
        command = launch(QEMU, recipe(), RunFiles(Path("/raw"))).command
        assert command[1:3] == [
            "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
        ]  # fmt: skip
        assert "-sandbox" not in launch(replace(QEMU, has_sandbox=False), recipe(), RunFiles(Path("/raw"))).command

    def test_may_start_the_helper_of_a_network_that_a_live_recording_asks_for(self) -> None:
        assert "spawn=deny" in filter_words(QEMU, recipe(live=True))[1]
        asked = recipe(live=True, qemu_options=("-netdev", "tap,id=n"))
        assert "spawn=deny" not in filter_words(QEMU, asked)[1]

    @needs_landlock
    def test_writes_only_into_its_folder(self) -> None:
        made = launch(QEMU, recipe(), RunFiles(Path("/run/a/raw")), Path("/p.so"), Path("/symbols"))
        assert made.confined is not None
        assert made.confined.offline
        writes = Access.WRITE_FILE | Access.MAKE_REG | Access.TRUNCATE
        written = {str(path) for path, access in made.confined.allowed.items() if access & writes}
        assert {path for path in written if not path.startswith("/dev/")} == {"/run/a/raw", "/images/root"}
        # Only opened for writing: its length stays what it is.
        assert not made.confined.allowed[Path("/images/root")] & (Access.TRUNCATE | Access.MAKE_REG)
        for path in ("/k", "/i", "/p.so", "/symbols"):
            assert made.confined.allowed[Path(path)] == Access.READ_FILE
        assert not {
            Path("/"),
            Path("/etc"),
            Path("/home"),
            Path("/root"),
            Path("/tmp"),
            Path("/var"),
            Path("/proc"),
        } & (made.confined.allowed.keys())

    @needs_landlock
    def test_reaches_what_a_persons_own_options_name(self, tmp_path: Path) -> None:
        (tmp_path / "blob").write_bytes(b"x")
        words = ("-fw_cfg", f"name=opt/x,file={tmp_path}/blob", "-debugcon", f"file:{tmp_path}/sub.log", "-usb")
        made = launch(QEMU, recipe(qemu_options=words), RunFiles(Path("/raw")))
        assert made.confined is not None
        assert made.confined.allowed[tmp_path / "blob"] & Access.READ_FILE
        assert made.confined.allowed[tmp_path] & Access.MAKE_REG

    def test_is_left_alone_where_a_person_says_so_and_the_manifest_tells(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(SWITCH, "no")
        assert not files_are_confined()
        made = launch(QEMU, recipe(), RunFiles(Path("/raw")))
        assert made.confined is None
        assert made.described() == {"system_calls": "-sandbox", "files": "none"}
