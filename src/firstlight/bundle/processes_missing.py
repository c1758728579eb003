"""Why an exact boot has no processes, as its manifest states it and as a reader finds it there."""

from __future__ import annotations

from firstlight.bundle.manifest import Manifest

_SUBJECT = "processes and system calls: "
_REMAINS = "; functions and threads are complete"

_REASONS = {
    "architecture": (
        "Firstlight does not follow user mode on this architecture",
        "`docs/design/architectures.md` lists what an architecture needs for this",
    ),
    "types": (
        "the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)",
        "record a kernel that was built with `CONFIG_DEBUG_INFO_BTF=y`",
    ),
    "members": (
        "the kernel lacks a function, a structure or a member that Firstlight reads",
        "record another version of the kernel",
    ),
    "emulator": ("QEMU does not show the guest's registers or memory", "record with another version of QEMU"),
}


def processes_missing_text(code: str) -> str:
    """What `completeness.missing` states of a boot without processes, and what it has nevertheless.

    :param code: of the recording: `architecture`, `types`, `members` or `emulator`.

    >>> processes_missing_text("emulator")
    "processes and system calls: QEMU does not show the guest's registers or memory; functions and threads are complete"
    """
    return f"{_SUBJECT}{_REASONS[code][0]}{_REMAINS}"


def processes_missing(manifest: Manifest) -> tuple[str, str] | None:
    """Why a boot has no processes and what to do about it; nothing where its manifest has no reason.

    >>> processes_missing(firstlight.open(bundle).manifest)
    """
    stated = set(manifest.completeness.missing)
    return next((reason for code, reason in _REASONS.items() if processes_missing_text(code) in stated), None)
