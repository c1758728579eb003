"""The recipe of a Debian root file system with systemd, made by mmdebstrap from the distribution's packages."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from firstlight.cache import digest_of, entry, place
from firstlight.errors import LabError
from firstlight.lab.host.foreign_programs import foreign_command
from firstlight.lab.host.package_manager import install_hint, os_release
from firstlight.lab.host.tools import run_tool
from firstlight.lab.rootfs.ext4 import EPOCH
from firstlight.recipe.isa import DEFAULT, Architecture

_KIND = "userlands"
_NAME = "debian.tar"
_HOSTNAME = "firstlight"
_MACHINE_ID = "4c4600000000400080000000000000fe"
#: What a small installation has beside the essential packages; nothing is left out to make it faster.
_PACKAGES = ("systemd-sysv", "udev", "dbus", "libpam-systemd", "kmod", "procps", "iproute2", "netbase", "cron")
#: What differs from one making to the next, as mmdebstrap's own clean-up removes it, but for the machine's id: an
#: empty one would be made up by the first boot, which here is every boot.
_UNREPEATABLE = (
    "var/log/dpkg.log",
    "var/log/alternatives.log",
    "var/log/apt/history.log",
    "var/log/apt/term.log",
    "var/log/apt/eipp.log.xz",
    "var/log/bootstrap.log",
    "var/cache/ldconfig/aux-cache",
    "var/lib/dbus/machine-id",
    "etc/resolv.conf",
)
_HOOKS = (
    f'echo {_HOSTNAME} >"$1/etc/hostname"',
    f'echo {_MACHINE_ID} >"$1/etc/machine-id"',
    # Root may log in on the console without a password.
    'chroot "$1" passwd --quiet --delete root',
    " ".join(["rm -f", *(f'"$1/{name}"' for name in _UNREPEATABLE)]),
)


#: The packages that mmdebstrap's small installation has without being asked.
_REQUIRED = ("?essential", "?priority(required)", "apt")
#: dpkg does not know packages that were not installed by it: their versions are noted as it would note them.
_NOTED = (
    'for each in "$1"/var/cache/apt/archives/*.deb; do dpkg-deb --field "$each" Package Version && echo; done '
    '>"$1/var/lib/dpkg/status"'
)


def debian_digest(more: Sequence[str] = (), architecture: Architecture = DEFAULT) -> str:
    """What identifies the recipe: its suite, packages and steps.

    :param more: packages beside those of a small installation.
    :param architecture: of the packages.
    """
    foreign = () if architecture is DEFAULT else ("for", architecture.distribution_name)
    return digest_of("1", _suite(architecture), *_PACKAGES, *more, *_HOOKS, str(EPOCH), *foreign)


def debian_place(more: Sequence[str] = (), architecture: Architecture = DEFAULT) -> Path:
    """Where the tar of a userspace is, once it was made."""
    return place(_KIND, debian_digest(more, architecture)) / _NAME


def debian_tar(more: Sequence[str] = (), architecture: Architecture = DEFAULT) -> Path:
    """The userspace as a tar, from the cache; the first time it is made.

    That takes about half a minute, and several minutes for an architecture whose programs this machine has to emulate.

    :param more: packages beside those of a small installation.
    :param architecture: of the packages.
    :raises LabError: when mmdebstrap is missing or fails, or programs of the architecture cannot be executed.
    """
    digest = debian_digest(more, architecture)
    return entry(_KIND, digest, lambda folder: _make_installed(folder, more, architecture)) / _NAME


def unpacked_place(more: Sequence[str] = (), architecture: Architecture = DEFAULT) -> Path:
    """Where the tar of the same packages is that are unpacked alone, once it was made."""
    names = (*_REQUIRED, *_PACKAGES, *more, _NOTED, str(EPOCH), architecture.distribution_name)
    return place(_KIND, digest_of("unpacked 1", _suite(architecture), *names)) / _NAME


def unpacked_tar(more: Sequence[str] = (), architecture: Architecture = DEFAULT) -> Path:
    """The packages of a userspace as a tar, from the cache: unpacked, not configured.

    It has the programs of the userspace, and does not boot. No program of it is executed to make it, so the first time
    takes less than a minute for every architecture.

    :param more: packages beside those of a small installation.
    :param architecture: of the packages.
    :raises LabError: when mmdebstrap is missing or fails.
    """
    path = unpacked_place(more, architecture)
    return entry(_KIND, path.parent.name, lambda folder: _make_unpacked(folder, more, architecture)) / _NAME


def _make_installed(folder: Path, more: Sequence[str], architecture: Architecture) -> None:
    options = ["--variant=minbase", f"--include={','.join([*_PACKAGES, *more])}"]
    options += [f"--customize-hook={hook}" for hook in _HOOKS]
    _make(folder, architecture, "a Debian root file system", options)


def _make_unpacked(folder: Path, more: Sequence[str], architecture: Architecture) -> None:
    options = ["--variant=extract", *(f"--include={each}" for each in (*_REQUIRED, *_PACKAGES, *more))]
    _make(folder, architecture, "Debian's programs", [*options, f"--extract-hook={_NOTED}"], executes=False)


def _make(
    folder: Path, architecture: Architecture, what: str, options: Sequence[str], *, executes: bool = True
) -> None:
    if (mmdebstrap := shutil.which("mmdebstrap")) is None:
        raise LabError("`mmdebstrap` is missing", hint=install_hint("mmdebstrap"))
    options = [*options, "--skip=cleanup/reproducible"]
    kind = suite = _suite(architecture)
    if architecture is not DEFAULT:
        # Its own check knows no lists of interpreters but the machine's.
        options += [f"--architectures={architecture.distribution_name}", "--skip=check/qemu"]
        kind += f", {architecture.distribution_name}"
    print(f"making {what} ({kind}) by mmdebstrap; this is done once", file=sys.stderr)
    command = [mmdebstrap, *options, suite, str(folder / _NAME), *_mirrors(suite)]
    if executes and architecture is not DEFAULT:
        command = foreign_command(architecture, command)
    run = run_tool(command, {"SOURCE_DATE_EPOCH": str(EPOCH), "LC_ALL": "C.UTF-8"})
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if line.startswith("E:")] or run.stderr.splitlines()[-1:]
        detail = "; ".join(line.removeprefix("E:").strip() for line in lines)
        hint = "as another user than root it needs user namespaces and the package `uidmap`"
        raise LabError(f"mmdebstrap failed: {detail}", hint=hint if os.geteuid() != 0 else "is the mirror reachable?")


def _suite(architecture: Architecture = DEFAULT) -> str:
    """The release that first has the architecture, else the host's own if that is a Debian, else the stable one."""
    return architecture.distribution_release or _own_suite()


def _own_suite() -> str:
    system = os_release()
    return system.get("VERSION_CODENAME", "stable") if system.get("ID") == "debian" else "stable"


def _mirrors(suite: str) -> list[str]:
    """The mirrors of Debian that the host uses, as lines for mmdebstrap; none when the host knows none."""
    if shutil.which("apt-get") is None or os_release().get("ID") != "debian":
        return []
    form = "$(ORIGIN)|$(CODENAME)|$(REPO_URI)|$(COMPONENT)"
    command = ["apt-get", "indextargets", "--format", form, "Created-By: Packages"]
    return sorted(set(_mirrors_of(run_tool(command).stdout, _own_suite(), suite)))


def _mirrors_of(targets: str, own: str, suite: str) -> Iterator[str]:
    """The lines that are Debian's own, main, and of the host's suite, for a suite: of another one without its updates.

    >>> targets = "Debian|bookworm|http://m/|main\\nDebian|bookworm-updates|http://m/|main\\nOther|x|http://o/|main"
    >>> list(_mirrors_of(targets, "bookworm", "bookworm"))
    ['deb http://m/ bookworm main', 'deb http://m/ bookworm-updates main']
    >>> list(_mirrors_of(targets, "bookworm", "trixie"))
    ['deb http://m/ trixie main']
    """
    for line in targets.splitlines():
        origin, codename, address, component = line.split("|")
        found = re.fullmatch(rf"{re.escape(own)}(-updates|-security)?", codename)
        if origin == "Debian" and component == "main" and found is not None and (suite == own or not found[1]):
            yield f"deb {address} {suite}{found[1] or ''} main"
