"""The capabilities of this machine, the missing ones, and the command that installs them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from firstlight.assets import ASSETS, asset_path
from firstlight.cache import cache_dir
from firstlight.errors import LabError
from firstlight.lab.host.landlock import version
from firstlight.lab.host.package_cache import known_file
from firstlight.lab.host.package_manager import install_hint, package_manager
from firstlight.lab.qemu.confinement import SWITCH, files_are_confined
from firstlight.lab.qemu.emulator import find_qemu, require_firmware, require_plugins
from firstlight.lab.qemu.processors import several_text
from firstlight.recipe.isa import DEFAULT, Architecture, architectures

State = Literal["ok", "limited", "missing"]

#: Free space that a default kernel, a Debian userspace and some bundles want.
_SPACE_BYTES = 4 << 30
_KVM = Path("/dev/kvm")

# Program, its Debian package, what it is for.
_PROGRAMS = (
    ("busybox", "busybox-static", "the minimal guest"),
    ("mke2fs", "e2fsprogs", "`--rootfs` of a directory or an archive"),
    ("mmdebstrap", "mmdebstrap", "`--rootfs debian`"),
    ("fakeroot", "fakeroot", "images with files of root, made by any user"),
    ("zstd", "zstd", "kernel modules and initramfs compressed with zstd"),
    ("cpio", "cpio", "looking into an initramfs"),
    ("apt-get", None, "downloading the default kernel; without it give one with `--kernel`"),
)
# System programs stand where the user's PATH often does not reach.
_SYSTEM_PATHS = ("/usr/sbin", "/sbin")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    detail: str
    needed: bool = False
    """Without it no boot can be recorded exactly."""
    package: str | None = None
    """The Debian package that adds it."""
    remedy: str | None = None
    """What else to do about it."""


def examine(qemu: Path | None = None) -> list[Check]:
    """Look at everything that Firstlight uses; nothing is booted, downloaded or changed.

    :param qemu: the QEMU to look at, by default the one in `PATH`.

    >>> {check.state for check in examine()} <= {"ok", "limited", "missing"}
    True
    """
    checks = [_qemu(qemu), *_carried()]
    checks.append(_exact(checks))
    return [
        *checks,
        *_confinement(checks[0], qemu),
        *_other_architectures(),
        _kvm(),
        *_programs(),
        _kernel(),
        _space(),
        _browser(),
    ]


def exact_possible(checks: Sequence[Check]) -> bool:
    """Whether a boot can be recorded in exact mode.

    >>> exact_possible([Check("QEMU", "missing", "", needed=True)]), exact_possible([Check("KVM", "missing", "")])
    (False, True)
    """
    return all(check.state == "ok" for check in checks if check.needed)


def install_command(checks: Sequence[Check]) -> str | None:
    """The one command that adds every package that is missing, of the machine's own package manager; none when nothing
    is missing, or the machine has no package manager that Firstlight knows.

    >>> command = install_command([Check("QEMU", "missing", "", package="qemu-system-x86")])
    >>> command is None or "qemu" in command
    True
    """
    packages = {check.package for check in checks if check.state == "missing" and check.package is not None}
    manager = package_manager()
    return manager.command(packages) if manager is not None else None


def _qemu(path: Path | None) -> Check:
    try:
        qemu = find_qemu(DEFAULT, path)
    except LabError as error:
        return Check("QEMU", "missing", str(error), True, DEFAULT.qemu_package, error.hint)
    detail = f"{qemu.version_text}, {qemu.path}"
    try:
        require_plugins(qemu)
    except LabError as error:
        return Check("QEMU", "limited", f"{detail}: {error.message}", True, remedy=error.hint)
    return Check("QEMU", "ok", f"{detail}, loads plugins; {several_text(qemu, DEFAULT)}", True)


def _other_architectures() -> Iterator[Check]:
    for each in architectures().values():
        if each is DEFAULT:
            continue
        name = f"QEMU for {each.name}"
        try:
            qemu = find_qemu(each)
        except LabError as error:
            yield Check(name, "missing", f"for guests of {each.name}", package=each.qemu_package, remedy=error.hint)
        else:
            try:
                require_firmware(qemu, each, each.machine)
            except LabError as error:
                yield Check(name, "missing", error.message, package=each.firmware_package, remedy=error.hint)
            else:
                detail = f"{qemu.version_text}, {qemu.path}; {several_text(qemu, each)}; {_default_kernel_of(each)}"
                yield Check(name, "ok", detail)


def _default_kernel_of(architecture: Architecture) -> str:
    known = known_file("kernels", architecture.kernel_package)
    if known is not None:
        return f"default kernel {known.name}"
    return f"the first record downloads {architecture.kernel_package}"


def _carried() -> Iterator[Check]:
    for name, what in ASSETS.items():
        needed = name in ("firstlight-plugin.so", DEFAULT.helper_asset)
        try:
            yield Check(name, "ok", f"{what}, {asset_path(name).stat().st_size:,} bytes", needed)
        except LabError as error:
            yield Check(name, "missing", what, needed, remedy=error.hint)


def _exact(checks: Sequence[Check]) -> Check:
    if exact_possible(checks):
        return Check("exact mode", "ok", "boots can be recorded to the nanosecond")
    lacking = ", ".join(check.name for check in checks if check.needed and check.state != "ok")
    return Check("exact mode", "missing", f"not without {lacking}")


def _confinement(found: Check, path: Path | None) -> Iterator[Check]:
    """What keeps QEMU, which runs strangers' kernels, from the rest of this machine."""
    if found.state != "missing":
        filters = find_qemu(DEFAULT, path).has_sandbox
        yield Check(
            "QEMU's filter of system calls",
            "ok" if filters else "limited",
            "QEMU cannot start programs or become another user" if filters else "this QEMU was built without it",
        )
    if version() == 0:
        remedy = "a kernel with CONFIG_SECURITY_LANDLOCK, and `landlock` among `lsm=`"
        yield Check(
            "Landlock", "limited", "this kernel has none: QEMU can access all files that you can", remedy=remedy
        )
    elif not files_are_confined():
        yield Check("Landlock", "limited", f"`{SWITCH}` switches it off: QEMU can access all files that you can")
    else:
        yield Check("Landlock", "ok", f"version {version()}: QEMU can read only its inputs and write only its evidence")


def _kvm() -> Check:
    if not _KVM.exists():
        return Check("KVM", "missing", f"no {_KVM}: live mode emulates, which is slower; exact mode does not use it")
    if not os.access(_KVM, os.R_OK | os.W_OK):
        remedy = "`sudo usermod -aG kvm $USER`, then log in again"
        return Check("KVM", "limited", f"{_KVM} is not accessible for you: live mode emulates", remedy=remedy)
    return Check("KVM", "ok", f"{_KVM} is there; `record --live` tries it, and emulates if it does not work")


def _programs() -> Iterator[Check]:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_SYSTEM_PATHS])
    for program, package, purpose in _PROGRAMS:
        found = shutil.which(program, path=path)
        if found is None:
            yield Check(program, "missing", f"for {purpose}", program == "busybox", package, _by_hand(package))
        else:
            yield Check(program, "ok", f"{found}, for {purpose}")


def _by_hand(package: str | None) -> str | None:
    """What to do about a package that the machine's package manager does not have."""
    manager = package_manager()
    known = package is None or manager is None or manager.command([package]) is not None
    return None if known else f"{manager.program if manager else ''} has none: {install_hint(str(package))}"


def _kernel() -> Check:
    try:
        kernels = sorted(path.name for path in (cache_dir() / "kernels").glob("*/boot/vmlinuz-*"))
    except LabError as error:
        return Check("default kernel", "limited", str(error), remedy=error.hint)
    if kernels:
        return Check("default kernel", "ok", ", ".join(kernels))
    return Check(
        "default kernel", "limited", f"not in the cache yet: the first record downloads {DEFAULT.kernel_package}"
    )


def _space() -> Check:
    try:
        where = cache_dir()
        free = shutil.disk_usage(where).free
    except (LabError, OSError) as error:
        return Check("cache", "limited", str(error))
    detail = f"{free / (1 << 30):.1f} GiB free in {where}"
    if free < _SPACE_BYTES:
        return Check("cache", "limited", detail, remedy="free some space, or set XDG_CACHE_HOME to another directory")
    return Check("cache", "ok", detail)


def _browser() -> Check:
    for name in _BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return Check("browser", "ok", f"{found}, for the tests of the report")
    return Check("browser", "missing", "only the tests of the report need one", package="chromium")
