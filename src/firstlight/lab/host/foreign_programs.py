"""Programs of another processor architecture, run on this machine without changing it.

Since Linux 6.7 each user namespace has a `binfmt_misc` of its own (`Documentation/admin-guide/binfmt-misc.rst`). A
command that is started here runs in a new user and mount namespace, in which QEMU's user emulation is registered; the
machine's own list stays as it is.

The module is also the program that sets this namespace up, `python -m firstlight.lab.host.foreign_programs` with the
words `INTERPRETER MACHINE COMMAND…`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from firstlight.errors import LabError
from firstlight.lab.host.package_cache import Package, unpacked_file
from firstlight.recipe.isa import Architecture

_NEW_NAMESPACES = 0x1000_0000 | 0x0002_0000  # CLONE_NEWUSER | CLONE_NEWNS of linux/sched.h
_REGISTERED = Path("/proc/sys/fs/binfmt_misc")
#: How many users and groups a distribution's packages take for granted.
_IDENTITIES = 65536
_HEADER = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00"
#: Any system of ABI; programs and shared objects.
_MASK = b"\xff" * 7 + b"\x00" + b"\xff" * 8 + b"\xfe\xff"


def foreign_command(architecture: Architecture, command: Sequence[str]) -> list[str]:
    """A command in which programs of another architecture can be executed as if they were this machine's.

    Where the machine itself runs them already, it is the command alone. Else it is started in namespaces of its own,
    with QEMU's user emulation from the distribution's package, which is unpacked into the cache.

    :param architecture: of the programs.
    :raises LabError: where the package cannot be had, or this machine has no way to map users.
    """
    if os.uname().machine == architecture.name or (_REGISTERED / f"qemu-{architecture.name}").exists():
        return list(command)
    if os.geteuid() != 0 and shutil.which("newuidmap") is None:
        raise LabError("`newuidmap` is missing; it maps users into a namespace", hint="`apt install uidmap`")
    interpreter = unpacked_file("emulators", _package(architecture), architecture.name)
    module = [sys.executable, "-m", __name__, str(interpreter), f"{architecture.elf_machine:#x}"]
    return [*module, *command]


def _package(architecture: Architecture) -> Package:
    return Package(
        "qemu-user-static",
        content=f"usr/bin/qemu-{architecture.name}-static",
        what=f"the emulator of programs for {architecture.name}",
        instead="build the root file system elsewhere, and give it: `--rootfs FILE`",
    )


def registration(interpreter: str, machine: int) -> bytes:
    """The line that makes the kernel run ELF programs of a machine by an interpreter.

    The flag `F` opens the interpreter now, so that it is there in every root directory.

    :param interpreter: a program without libraries.
    :param machine: `e_machine` of an ELF file.

    >>> registration("/q", 0xB7)[:38]
    b':guest:M::\\\\x7f\\\\x45\\\\x4c\\\\x46\\\\x02\\\\x01\\\\x01'
    """
    magic = _HEADER + machine.to_bytes(2, "little")
    mask = _MASK + b"\xff\xff"
    escaped = ("".join(f"\\x{byte:02x}" for byte in part) for part in (magic, mask))
    return f":guest:M::{':'.join(escaped)}:{interpreter}:F".encode()


def main(words: Sequence[str]) -> int:
    """Run a command in namespaces in which an interpreter is registered, and return its exit code."""
    interpreter, machine, *command = words
    ready, mapped = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _enter(ready[1], mapped[0])
            _register(registration(interpreter, int(machine, 16)))
            os.execvp(command[0], command)
        except OSError as error:
            print(f"E: cannot run programs of another architecture: {error}", file=sys.stderr)
        os._exit(1)
    os.close(ready[1])
    if os.read(ready[0], 1):
        _map_identities(child)
    os.write(mapped[1], b"1")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _enter(ready: int, mapped: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NAMESPACES) != 0:
        raise OSError(ctypes.get_errno(), "no user namespace: " + os.strerror(ctypes.get_errno()))
    os.write(ready, b"1")
    os.read(mapped, 1)
    os.setgid(0)
    os.setuid(0)


def _map_identities(process: int) -> None:
    if os.geteuid() == 0:
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{process}/{name}").write_text(f"0 0 {_IDENTITIES}", encoding="ascii")
        return
    for tool, known in (("newuidmap", "/etc/subuid"), ("newgidmap", "/etc/subgid")):
        subprocess.run([tool, str(process), "0", str(_first_identity(Path(known))), str(_IDENTITIES)], check=False)


def _first_identity(known: Path) -> int:
    names = {str(os.getuid()), os.environ.get("USER", "")}
    lines = (line.split(":") for line in known.read_text(encoding="utf-8").splitlines())
    return next((int(fields[1]) for fields in lines if fields[0] in names), 100_000)


def _register(line: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"binfmt_misc", bytes(_REGISTERED), b"binfmt_misc", 0, None) != 0:
        why = os.strerror(ctypes.get_errno())
        raise OSError(ctypes.get_errno(), f"no binfmt_misc of one's own (it needs Linux 6.7): {why}")
    (_REGISTERED / "register").write_bytes(line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
