"""The package manager of this machine: which one it is, how it names a package, and how it installs it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.errors import LabError
from firstlight.recipe.isa import architectures

#: The first that exists counts, as os-release(5) says.
OS_RELEASE = (Path("/etc/os-release"), Path("/usr/lib/os-release"))


@dataclass(frozen=True)
class PackageManager:
    """One package manager."""

    program: str
    install: str
    """What stands before the names of packages."""
    systems: tuple[str, ...]
    """The distributions that use it, as `ID` of os-release."""
    names: Mapping[str, str | None] = field(default_factory=dict)
    """By the name of a Debian package the name here; `None`: it has none. Others have the same name."""
    as_root: bool = True

    def command(self, packages: Iterable[str]) -> str | None:
        """The command that installs what Debian calls so; nothing where it has none of these packages.

        :param packages: names of Debian packages.

        >>> PackageManager("apk", "apk add", ("alpine",)).command(["zstd", "cpio"]).removeprefix("sudo ")
        'apk add cpio zstd'
        """
        own = sorted({name for package in packages for name in self._own(package)})
        if not own:
            return None
        right = "sudo " if self.as_root and os.geteuid() != 0 else ""
        return f"{right}{self.install} {' '.join(own)}"

    def _own(self, package: str) -> set[str]:
        # One package of Debian may be that of several architectures, which others have apart.
        emulators = [each.qemu_packages for each in architectures().values() if each.qemu_package == package]
        if emulators:
            return {names.get(self.program, package) for names in emulators}
        name = self.names.get(package, package)
        return set() if name is None else {name}


_MANAGERS = (
    PackageManager("apt-get", "apt-get install -y", ("debian", "ubuntu")),
    PackageManager("dnf", "dnf install -y", ("fedora", "rhel", "centos"), {"busybox-static": "busybox"}),
    PackageManager("pacman", "pacman -S --needed", ("arch",), {"busybox-static": "busybox", "mmdebstrap": None}),
    PackageManager("zypper", "zypper install -y", ("suse", "opensuse", "sles"), {"mmdebstrap": None}),
    PackageManager("apk", "apk add", ("alpine",), {"mmdebstrap": None}),
    PackageManager("nix-shell", "nix-shell -p", ("nixos",), {"busybox-static": "pkgsStatic.busybox"}, as_root=False),
)


def package_manager() -> PackageManager | None:
    """The package manager of this machine; nothing where its distribution is unknown, or its program is missing.

    What os-release says decides: `ID`, then what `ID_LIKE` lists. A machine of an unknown distribution has the first
    package manager that is there.

    >>> found = package_manager()
    >>> found is None or shutil.which(found.program) is not None
    True
    """
    release = os_release()
    there = [manager for manager in _MANAGERS if shutil.which(manager.program) is not None]
    for system in [release.get("ID", ""), *release.get("ID_LIKE", "").split()]:
        # `opensuse-leap`, `opensuse-tumbleweed`
        found = [manager for manager in there if {system, system.partition("-")[0]} & set(manager.systems)]
        if found:
            return found[0]
    return there[0] if there else None


def install_hint(*packages: str) -> str:
    """What a hint says of missing packages.

    :param packages: the names of the Debian packages.

    >>> install_hint("zstd").startswith("install "), install_hint("flex", "bison").startswith("install ")
    (True, True)
    """
    manager = package_manager()
    command = manager and manager.command(packages)
    if command:
        return f"install {'it' if len(packages) == 1 else 'them'}: `{command}`"
    names = " ".join(packages)
    return f"install what Debian has in the package{'' if len(packages) == 1 else 's'} `{names}`"


def require_packages(purpose: str, missing: Iterable[str]) -> None:
    """Check that no package is missing.

    :param purpose: what they are needed for, behind `to`.
    :param missing: the names of Debian packages; one may be there several times.
    :raises LabError: naming them.

    >>> require_packages("build a kernel", [])
    """
    if packages := list(dict.fromkeys(missing)):
        message = f"to {purpose}, these packages are missing: {' '.join(packages)}"
        raise LabError(message, hint=install_hint(*packages))


def os_release() -> dict[str, str]:
    """What the machine says of its distribution; nothing where it says nothing.

    >>> isinstance(os_release().get("ID", ""), str)
    True
    """
    for path in OS_RELEASE:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        return parse_os_release(text)
    return {}


def parse_os_release(text: str) -> dict[str, str]:
    r"""The assignments of an os-release file, without quotes; lines that are none are passed over.

    >>> parse_os_release('ID="opensuse-leap"\nID_LIKE=\'suse opensuse\'\n# ID=no\nbroken\nNAME="cut\n')
    {'ID': 'opensuse-leap', 'ID_LIKE': 'suse opensuse'}
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if not equals or not name.replace("_", "").isalnum():
            continue
        try:
            words = shlex.split(value, comments=False)
        except ValueError:
            continue
        found[name] = " ".join(words)
    return found
