"""The QEMU in use and its capabilities."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from firstlight.errors import MISSING_INPUT, LabError, UsageError
from firstlight.lab.host.package_manager import install_hint
from firstlight.recipe.isa import DEFAULT, Architecture

OLDEST = (7, 2)
"""The first QEMU on which the recipe was found exact."""


@dataclass(frozen=True)
class Qemu:
    """One QEMU on this machine."""

    path: Path
    version: tuple[int, int, int]
    version_text: str
    has_plugins: bool
    has_sandbox: bool
    """It can filter its own system calls."""
    data_directories: tuple[Path, ...]

    def digest(self) -> str:
        """SHA-256 of the program."""
        return _digest_files([self.path])

    def firmware(self, names: Sequence[str], before: Sequence[Path] = ()) -> list[Path]:
        """The firmware files that the machine executes, of those that are there.

        :param names: what it executes, :meth:`Architecture.firmware_of`.
        :param before: directories that are looked in before QEMU's own.
        """
        found = []
        for name in names:
            directories = (*before, *self.data_directories)
            path = next((each / name for each in directories if (each / name).is_file()), None)
            if path is not None:
                found.append(path)
        return found

    def firmware_digest(self, names: Sequence[str], before: Sequence[Path] = ()) -> str:
        """SHA-256 over the firmware files, in the order of their names here."""
        return _digest_files(self.firmware(names, before))

    def machines(self) -> frozenset[str]:
        """The machine types that it knows."""
        lines = _ask(str(self.path), "-machine", "help").splitlines()[1:]
        return frozenset(words[0] for words in map(str.split, lines) if words)


def _digest_files(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def find_qemu(architecture: Architecture, path: Path | None = None) -> Qemu:
    """Find QEMU and ask it what it is; nothing is booted.

    :param path: the program, when the user named one; else the one in `PATH`.
    :raises LabError: when there is none, it does not run, or it is older than :data:`OLDEST`.

    >>> from firstlight.errors import LabError
    >>> from firstlight.recipe.isa import DEFAULT
    >>> try:
    ...     find_qemu(DEFAULT, Path("/nonexistent/qemu"))
    ... except LabError as error:
    ...     print(error)
    /nonexistent/qemu: there is no QEMU
    """
    name = str(path) if path is not None else architecture.qemu_binary
    # `Path` drops the `./` by which the user says that the file here is meant.
    found = shutil.which(str(path.absolute()) if path is not None and path.exists() else name)
    if found is None and path is not None and path.exists():
        raise LabError("this is not a program that can be run", where=name, hint="give a QEMU with `--qemu`")
    if found is None:
        raise LabError(
            "there is no QEMU",
            where=name,
            hint=_install(architecture),
            exit_code=None if path is None else MISSING_INPUT,
        )
    version_text = _ask(found, "--version").split("\n", 1)[0]
    match = re.search(r"version (\d+)\.(\d+)(?:\.(\d+))?", version_text)
    if match is None:
        raise LabError("this program does not report a QEMU version", where=found, hint="give a QEMU with `--qemu`")
    version = (int(match[1]), int(match[2]), int(match[3] or 0))
    if version[:2] < OLDEST:
        raise LabError(
            f"QEMU {match[1]}.{match[2]} is too old: exact recordings need {OLDEST[0]}.{OLDEST[1]} or newer",
            where=found,
            hint="update QEMU, or give another one with `--qemu`",
        )
    # Older helps list the option only where the build has it.
    help_text = _ask(found, "-help")
    has_plugins, has_sandbox = (
        re.search(rf"^{each} ", help_text, re.MULTILINE) is not None for each in ("-plugin", "-sandbox")
    )
    data = tuple(Path(line) for line in _ask(found, "-L", "help").splitlines() if line.startswith("/"))
    return Qemu(Path(found), version, version_text, has_plugins, has_sandbox, data)


def require_plugins(qemu: Qemu) -> None:
    """Make sure that this QEMU can load the plugin.

    :raises LabError: when it was built without.
    """
    if not qemu.has_plugins:
        raise LabError(
            "this QEMU was built without plugins, so functions cannot be profiled",
            where=str(qemu.path),
            hint="use a distribution's QEMU, or record with `--no-profile`",
        )


def require_firmware(qemu: Qemu, architecture: Architecture, machine: str, before: Sequence[Path] = ()) -> None:
    """Make sure that the firmware is there that a machine of this architecture does not start without.

    :param before: directories that are looked in before QEMU's own.
    :raises LabError: when it is not.
    """
    names = architecture.firmware_of(machine)
    if architecture.firmware_package is None or len(qemu.firmware(names, before)) == len(names):
        return
    raise LabError(
        f"QEMU's firmware of guests on {architecture.name} is missing: {', '.join(f'`{name}`' for name in names)}",
        where=str(qemu.path),
        hint=install_hint(architecture.firmware_package),
    )


def _install(architecture: Architecture) -> str:
    return install_hint(architecture.qemu_package)


def _ask(program: str, *arguments: str) -> str:
    try:
        answer = subprocess.run(
            [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"QEMU does not run: {error}", where=program, hint=_install(DEFAULT)) from error
    return answer.stdout.decode(errors="replace")


def _newest_machine(program: str, wanted: str) -> str | None:
    """The newest versioned type of the same machine that a QEMU has, which may have dropped the older ones."""
    family = re.match(r"\S+?-(?=\d+\.\d)", wanted)
    if family is None or shutil.which(program) is None:
        return None
    names = (words[0] for words in map(str.split, _ask(program, "-machine", "help").splitlines()) if words)
    ages = [
        (tuple(map(int, version.split("."))), name)
        for name in names
        if name.startswith(family[0]) and re.fullmatch(r"\d+(\.\d+)+", version := name.removeprefix(family[0]))
    ]
    return max(ages)[1] if ages else None


_USAGE = UsageError.default_exit_code

_LEFT_OUT = re.compile(r"TCG doesn't support requested feature: \S+?\.([\w.-]+) \[bit \d+\]")


def left_out_features(log: str) -> list[str]:
    """The features of the processor model that QEMU cannot emulate, and so leaves out: the guest does not see them.

    :param log: what QEMU wrote to standard error.

    >>> left_out_features("qemu: warning: TCG doesn't support requested feature: CPUID.07H:EBX.invpcid [bit 10]")
    ['invpcid']
    """
    return list(dict.fromkeys(_LEFT_OUT.findall(log)))


def explain_rejection(log: str, command: Sequence[str] = ()) -> LabError:
    """Say in words why QEMU ended before it started the guest, from what it wrote to standard error.

    :param command: QEMU's command line, to name what it refused.
    :returns: the error to raise; where an option of Firstlight's names what QEMU does not know, the command was used
        wrongly, and its exit code says so.

    >>> print(explain_rejection("qemu: unsupported machine type", ["qemu", "-machine", "pc-q35-99.1"]).report())
    error: qemu: QEMU does not know the machine type `pc-q35-99.1`
    hint: list them with `qemu -machine help`
    >>> print(explain_rejection("qemu: Property 'E-x86_64-cpu.foo' not found", ["qemu", "-cpu", "E,+foo"]).report())
    error: qemu: QEMU does not know the feature `foo` of `--cpu E,+foo`
    hint: list them with `qemu -cpu help`
    """
    program = command[0] if command else DEFAULT.qemu_binary
    known = (
        ("unsupported machine type", "machine type", "-machine"),
        ("unable to find CPU model", "CPU model", "-cpu"),
    )
    given = dict(pairwise(command))
    for text, what, option in known:
        if text in log:
            name = f" `{given[option].split(',')[0]}`" if option in given else ""
            message, hint = f"QEMU does not know the {what}{name}", f"list them with `{program} {option} help`"
            if option == "-machine" and (newest := _newest_machine(program, given.get(option, ""))) is not None:
                hint = f"this QEMU has `{newest}`: record all boots of a comparison with `--machine {newest}`"
            return LabError(message, where=program, hint=hint, exit_code=_USAGE)
    if (feature := re.search(r"Property '\S+-cpu\.([^\s']+)' not found", log)) is not None:
        message = f"QEMU does not know the feature `{feature[1]}` of `--cpu {given.get('-cpu', '')}`"
        return LabError(message, where=program, hint=f"list them with `{program} -cpu help`", exit_code=_USAGE)
    if re.search(r"Cannot allocate memory|cannot set up guest memory", log, re.IGNORECASE):
        message = "this machine has too little free memory for the guest"
        return LabError(message, where=program, hint="give less with `--memory`")
    lines = [line for line in log.splitlines() if line.strip() and "warning:" not in line]
    last = re.sub(r"^\S*qemu-system-\w+: ", "", lines[0]) if lines else "it gave no reason"
    return LabError(f"QEMU did not start: {last}", where=program)
