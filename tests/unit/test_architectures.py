"""Guest architectures: a module for each is found by its name, and nothing else knows one."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import firstlight
from firstlight.analysis.ledger.entries import ledger
from firstlight.assets import ASSETS, asset_path
from firstlight.errors import LabError, UsageError
from firstlight.lab.host.package_manager import install_hint
from firstlight.lab.kernel import kernel as kernels
from firstlight.lab.kernel.image_header import Head, NotBootableError
from firstlight.lab.kernel.kernel import architecture_of_kernel, open_kernel
from firstlight.lab.qemu.command_line import RunFiles, kernel_command_line, qemu_arguments, write_plugin_config
from firstlight.lab.qemu.emulator import Qemu, find_qemu, require_firmware
from firstlight.lab.qemu.processors import require_repeatable
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe import isa
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa import architecture_of, architectures
from firstlight.recipe.options import RecordOptions
from firstlight.recipe.recipe import Files, Recipe
from reference.commands import read_commands

SOURCE = Path(firstlight.__file__).parent
#: What only one architecture has: its own name, its devices, its machines and processors, its forms of files.
NAMES = re.compile(
    r"x86|amd64|ttyS|bzImage|HdrS|\bq35|i440fx|qemu64|EPYC|Skylake|Icelake|ld-linux"
    r"|aarch64|arm64|armhf|riscv64|ppc64|mips64|cortex-|ttyAMA",
    re.IGNORECASE,
)
#: Where such names may stand, and why.
ALLOWED = {
    "recipe/isa": "the modules of the architectures",
    "lab/kernel/image_header.py": "the reader of one form of file, reached through `Architecture.kernel_format`",
    "lab/kernel/foreign_image.py": "the names of processors, of this one too, by their numbers in headers of files",
    "lab/kernel/flat_image.py": "the readers of two forms of file",
    "lab/kernel/elf_image.py": "the readers of two forms of file",
    "assets.py": "the files that the build puts into the package, one for each helper",
    "lab/kernel/vmlinux.py": "the reader of an ELF file with a PVH entry, which only this architecture has",
    "lab/kernel/command_line/image.py": "the payload of the same form of file",
    "lab/kernel/kernel.py": "the hint for somebody who gives a directory",
    "cli/record.py": "the help of `--kernel` names the forms of files, that of `--arch` all architectures",
    "experiment/plan.py": "the default of a plan's `output`, a part of the format of plans",
}


def names_in(source: str) -> list[tuple[int, str]]:
    """The lines of code, without comments and docstrings, that have such a name, and the name."""
    tree = ast.parse(source)
    texts = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    found = []
    for node in ast.walk(tree):
        words: tuple[str | bytes, ...] = ()
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in texts:
            words = (node.value,)
        elif isinstance(node, ast.Name):
            words = (node.id,)
        elif isinstance(node, ast.Attribute):
            words = (node.attr,)
        elif isinstance(node, ast.ImportFrom):
            words = (node.module or "", *(each.name for each in node.names))
        for word in words:
            text = word.decode("latin-1") if isinstance(word, bytes) else word
            if (match := NAMES.search(text)) is not None:
                found.append((getattr(node, "lineno", 0), match[0]))
    return found


def allowed(path: Path) -> str | None:
    relative = path.relative_to(SOURCE)
    return next((each for each in ALLOWED if relative == Path(each) or Path(each) in relative.parents), None)


def test_only_the_modules_of_architectures_name_them() -> None:
    found = {
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if allowed(path) is None
        for line, name in names_in(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_every_architecture_is_in_the_help_and_has_its_helper_in_the_package() -> None:
    record = next(each for each in read_commands().walk() if each.name == "firstlight record")
    (text,) = (text for option, text in record.options if "--arch" in option)
    for each in architectures().values():
        assert each.distribution_name in text
        assert {each.helper_asset, *(each.walk_assets or ())} <= set(ASSETS)


def test_every_exception_is_needed() -> None:
    needed = {
        allowed(path) for path in SOURCE.rglob("*.py") if allowed(path) and names_in(path.read_text(encoding="utf-8"))
    }
    assert needed == set(ALLOWED)


@pytest.mark.parametrize(
    "planted",
    [
        'console = "console=ttyS0"',
        'libraries = "usr/lib/x86_64-linux-gnu"',
        "from firstlight.recipe.isa.x86_64 import ARCHITECTURE",
        "machine = isa.X86_64.machine",
        'sign = b"HdrS"',
    ],
)
def test_a_planted_name_is_found(planted: str) -> None:
    assert [line for line, _ in names_in(f'"""For bzImage: not code."""\n# ttyS0\n{planted}\n')] == [3]


MODULE = """
from types import MappingProxyType
from firstlight.recipe.isa.architecture import FunctionMark
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.schema.marks import Mark
import dataclasses
ARCHITECTURE = dataclasses.replace(
    X86_64, name="other", distribution_name="other",
    qemu_binary="qemu-system-other", qemu_package="qemu-system-misc", machine="virt-7.2",
    cpu="other-v1", live_cpu="other", versioned_machine=r"virt-\\d+\\.\\d+", console_device="ttyOTHER0",
    report_device="ttyOTHER1", kernel_format="other image", kernel_signs=((0, b"OTHER"),), elf_machine=0x4242,
    kernel_image="arch/other/boot/Image", library_folder="other-linux-gnu", loader="ld-other.so.1",
    several_processors="lets two of them race", marks=(FunctionMark(Mark.KERNEL_START, ("start_other",)),),
    small_machines=MappingProxyType({}), firmware_files=("other.bin",),
)
"""


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[isa.Architecture]:
    """An architecture that the project does not know, in a module of its own."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "other.py").write_text(MODULE)
    monkeypatch.setattr(isa, "__path__", [*isa.__path__, str(folder)])
    architectures.cache_clear()
    yield architecture_of("other")
    monkeypatch.undo()
    architectures.cache_clear()


def _read_other(head: bytes, size: int) -> Head:
    if size < 16:
        raise NotBootableError("cut short")
    return Head(head[5:].rstrip(b"\0").decode())


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel for it, where its build left it."""
    monkeypatch.setattr(kernels, "READERS", {**kernels.READERS, "other image": _read_other})
    path = tmp_path / "linux/arch/other/boot/Image"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"OTHER6.1.0-other (a@b) #1 SMP".ljust(64, b"\0"))
    (tmp_path / "linux/.config").write_text("CONFIG_OTHER=y\n")
    return path


def test_a_module_is_all_that_an_architecture_needs(other: isa.Architecture) -> None:
    assert set(architectures()) == {"aarch64", "arm", "mips64el", "ppc64le", "riscv64", "x86_64", "other"}
    assert kernel_command_line(other, "quiet") == "console=ttyOTHER0 nokaslr norandmaps quiet"
    assert ledger("other").entries == ()
    with pytest.raises(LabError) as missing:
        find_qemu(dataclasses.replace(other, qemu_binary="qemu-system-absent"))
    assert missing.value.hint == install_hint("qemu-system-misc")


def test_a_kernel_selects_its_architecture(other: isa.Architecture, kernel: Path) -> None:
    opened = open_kernel(kernel)
    assert (opened.architecture, opened.release) == (other, "6.1.0-other")
    assert opened.build_folder == kernel.parents[3]
    assert opened.config == kernel.parents[3] / ".config"
    assert architecture_of_kernel(kernel) == other
    kernel.write_bytes(b"OTHER")
    with pytest.raises(LabError, match="this is cut short"):
        open_kernel(kernel)


def test_a_file_that_says_nothing_is_for_the_default_one(other: isa.Architecture, tmp_path: Path) -> None:
    assert architecture_of_kernel(None) == isa.DEFAULT
    assert architecture_of_kernel(tmp_path / "absent") == isa.DEFAULT
    assert architecture_of_kernel(Path("/dev/null")) == isa.DEFAULT


def test_its_guests_get_its_machine_and_its_marks(other: isa.Architecture, kernel: Path, tmp_path: Path) -> None:
    recipe = Recipe(
        architecture=other.name,
        machine=other.machine,
        cpu=other.cpu,
        memory=512 << 20,
        command_line=kernel_command_line(other, ""),
        chosen=Choices(),
        files=Files(kernel=kernel, qemu=Path("/usr/bin/qemu-system-other")),
    )
    assert Recipe.model_validate_json(recipe.model_dump_json()) == recipe
    files = RunFiles(tmp_path)
    words = qemu_arguments(recipe, files)
    assert words[words.index("-machine") + 1].startswith("virt-7.2")
    assert words[words.index("-cpu") + 1] == "other-v1"
    assert "console=ttyOTHER0" in words[words.index("-append") + 1]
    symbols = tmp_path / "kallsyms"
    symbols.write_text("1000 T start_other\n1040 T start_kernel\n")
    write_plugin_config(recipe, files, symbols)
    marks = json.loads(files.plugin_config.read_text())["marks"]
    assert marks == [{"mark": "kernel_start", "function": "start_other"}]


def test_its_rules_of_exactness_are_its_own(other: isa.Architecture) -> None:
    qemu = Qemu(Path("/opt/qemu"), (9, 2, 0), "QEMU 9.2", True, True, ())
    with pytest.raises(UsageError, match=r"other lets two of them race, and this is QEMU 9\.2\.0"):
        require_repeatable(2, qemu, other)
    require_repeatable(1, qemu, other)


def test_a_recipe_of_no_known_architecture_is_invalid(other: isa.Architecture) -> None:
    with pytest.raises(ValueError, match="no architecture of guests is called `vax`"):
        Recipe.model_validate({"architecture": "vax"})


@pytest.mark.skipif(shutil.which("qemu-system-i386") is None, reason="QEMU for another processor is not installed")
def test_the_plugin_rejects_a_processor_that_it_has_no_module_for(tmp_path: Path) -> None:
    config: dict[str, object] = {
        "symbols": str(tmp_path / "kallsyms"),
        "output": str(tmp_path / "profile"),
        "status": str(tmp_path / "status"),
        "console": None,
        "icount_shift": 0,
        "ready": {"nop": True, "console": None, "function": None},
        "virtual_limit_ns": None,
        "marks": [],
        "clock": "auto",
    }
    (tmp_path / "config").write_text(json.dumps(config))
    plugin = f"{asset_path('firstlight-plugin.so')},config={tmp_path / 'config'}"
    command = ["qemu-system-i386", "-nodefaults", "-display", "none", "-S", "-plugin", plugin]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode != 0
    status = json.loads((tmp_path / "status").read_text())
    assert (status["state"], status["detail"]) == ("error", "the plugin has no module for the processor i386")


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"devices": True}, "cannot be profiled"),
        ({"user_functions": True}, "cannot be profiled"),
        ({"rootfs": "debian"}, "cannot be booted with `--rootfs`"),
        ({"root_as": "ext4"}, "cannot be booted with `--root-as`"),
    ],
)
def test_an_architecture_without_plugin_and_root_images_says_what_it_cannot_do(
    chosen: dict[str, object], message: str
) -> None:
    options = RecordOptions(output=Path("a.boot"), **chosen)  # type: ignore[arg-type]
    architecture = dataclasses.replace(architecture_of("aarch64"), has_profile=False, has_root_images=False)
    architecture = dataclasses.replace(architecture, has_kernel_roots=False)
    with pytest.raises(UsageError, match=message) as caught:
        check_choices(options, architecture)
    assert caught.value.hint is not None


@pytest.mark.parametrize(("name", "largest"), [("arm", "3G"), ("mips64el", "2G")])
def test_more_memory_than_a_machine_can_have_is_named_before_the_boot(name: str, largest: str) -> None:
    check_choices(RecordOptions(output=Path("a.boot"), memory=largest), architecture_of(name))
    with pytest.raises(UsageError, match="no machine with so much memory") as caught:
        check_choices(RecordOptions(output=Path("a.boot"), memory="4G"), architecture_of(name))
    assert caught.value.hint == f"give {largest} at most"


@pytest.mark.parametrize("name", ["arm", "mips64el", "ppc64le"])
@pytest.mark.parametrize("chosen", ["devices", "user_functions"])
def test_an_architecture_whose_processes_are_not_followed_says_so_before_the_boot(name: str, chosen: str) -> None:
    options = RecordOptions(output=Path("a.boot"), **{chosen: True})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not followed beyond the functions of its kernel") as caught:
        check_choices(options, architecture_of(name))
    assert caught.value.hint is not None


def test_a_machine_that_does_not_start_without_its_firmware_says_what_adds_it(tmp_path: Path) -> None:
    riscv = architecture_of("riscv64")
    qemu = Qemu(Path("qemu-system-riscv64"), (7, 2, 0), "", has_plugins=True, has_sandbox=True, data_directories=())
    with pytest.raises(LabError, match="firmware of guests on riscv64 is missing: `opensbi-riscv64-") as caught:
        require_firmware(qemu, riscv, riscv.machine)
    assert caught.value.hint == install_hint("qemu-system-data")
    (tmp_path / riscv.firmware_files[0]).touch()
    require_firmware(qemu, riscv, riscv.machine, (tmp_path,))
    require_firmware(dataclasses.replace(qemu), architecture_of("aarch64"), "virt-7.2")


def test_the_report_of_a_machine_with_one_serial_port_goes_to_a_card(tmp_path: Path) -> None:
    arm = architecture_of("aarch64")
    recipe = Recipe(
        architecture=arm.name,
        machine=arm.machine,
        cpu=arm.cpu,
        memory=512 << 20,
        command_line=kernel_command_line(arm, ""),
        chosen=Choices(),
        files=Files(kernel=tmp_path / "Image", qemu=Path("/usr/bin/qemu-system-aarch64")),
    )
    words = qemu_arguments(recipe, RunFiles(tmp_path))
    assert words[words.index("-machine") + 1] == "virt-7.2,gic-version=3"
    assert [words[at + 1] for at, word in enumerate(words) if word == "-serial"] == ["chardev:console"]
    assert "pci-serial,chardev=report" in words
