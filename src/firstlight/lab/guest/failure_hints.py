"""Hints for a failed boot, from the reason and the last lines of the guest."""

from __future__ import annotations

import re
import shlex

from firstlight.bundle.manifest import Failure
from firstlight.lab.guest.report import Report
from firstlight.recipe.options import RecordOptions
from firstlight.schema.records import FailureReason

_HELPER = re.compile(r"firstlight: error: (.*)")
#: What initramfs-tools and dracut print when there is no root.
_NO_ROOT = re.compile(
    r"ALERT!.*does not exist.*|Gave up waiting for root.*|.*dracut-initqueue: timeout.*"
    r"|.*Warning: /dev/.* does not exist.*|No root device specified.*|Target filesystem doesn't have requested.*"
)
#: What the kernel logs when a root in persistent memory is mounted, and what only runs behind that.
_ROOT_MOUNTED = re.compile(r"\(pmem0\): mounted filesystem|VFS: Mounted root|systemd\[1\]: ")
#: What userspace prints when it is up; lines of the kernel begin with their time.
_SAYS_READY = re.compile(r"^(?!\[ *\d+\.\d+\]).*(\bready\b|\blogin: *$)", re.IGNORECASE)
_ENDED_WITHOUT_READY = (FailureReason.VIRTUAL_TIMEOUT, FailureReason.WALL_TIMEOUT, FailureReason.NEVER_READY)
_HINTS = {
    FailureReason.PANIC: "the last lines of the console are in the bundle: `firstlight show`",
    FailureReason.WALL_TIMEOUT: "raise `--timeout-wall`, or set another end with `--ready REGEX`",
    FailureReason.VIRTUAL_TIMEOUT: "raise `--timeout-virtual`, or set another end with `--ready REGEX`",
    FailureReason.NEVER_READY: "give the console line that means that the system is up: `--ready REGEX`",
    FailureReason.QEMU_DIED: "the bundle has QEMU's messages: `raw/qemu.log`",
    FailureReason.PLUGIN: "run `firstlight doctor`",
}


def advice(failure: Failure, options: RecordOptions, report: Report, console: str = "") -> str:
    """Return what to look at.

    :param console: all that the guest printed.

    >>> said = ["firstlight: error: the new root has no `/x`"]
    >>> failure = Failure(reason=FailureReason.NEVER_READY, detail="", console_tail=said)
    >>> from pathlib import Path
    >>> advice(failure, RecordOptions(Path("a.boot")), Report())
    'the guest says: the new root has no `/x`'
    """
    said = "\n".join(failure.console_tail)
    if failure.reason == FailureReason.NEVER_READY and (words := _own_words(said, report)) is not None:
        return f"the guest says: {words}"
    if failure.reason in _ENDED_WITHOUT_READY and options.ready is None and options.initrd is not None:
        ready = next((line.strip() for line in console.splitlines() if _SAYS_READY.search(line)), None)
        if ready is not None:
            pattern = shlex.quote(re.escape(ready[:60]).replace("\\ ", " "))
            return (
                "the console says that it is up, but a boot of your own initramfs ends at a line that you name: "
                f"`--ready {pattern}`, or `ready` in a plan"
            )
    if options.initrd is not None and (line := _NO_ROOT.search(said)) is not None:
        return (
            f"the initramfs never mounted its root (`{line[0].strip()}`): it has no driver for it, or `root=` names "
            "another. A root in persistent memory needs the modules nfit, nd_pmem and ext4: an initramfs of "
            "initramfs-tools gets them from Firstlight if the kernel's `lib/modules/RELEASE` is next to the kernel"
        )
    if (
        options.initrd is not None
        and options.rootfs is not None
        and failure.reason in _ENDED_WITHOUT_READY
        and not _ROOT_MOUNTED.search(console)
    ):
        return (
            "the initramfs probably never mounted its root: no line of the console shows a mount of `/dev/pmem0`. "
            "Check its `/init` and `root=` in `--append`; it needs the modules nfit, nd_pmem and ext4"
        )
    first = next((word for word in reversed(options.append.split()) if word.startswith("rdinit=")), None)
    if first is not None and "Unable to mount root" in said and "Initramfs unpacking failed" not in said:
        return f"the initramfs has no `{first.partition('=')[2]}`: look at `{first}` in `--append`"
    if "Initramfs unpacking failed" in said or ("Unable to mount root" in said and options.initrd is not None):
        return (
            "the kernel could not use the initramfs: check that it is complete, and that this kernel supports its "
            "compression"
        )
    if "Unable to mount root" in said:
        return "the kernel found no first process: look at `--append` (`rdinit=`, `root=`)"
    return _HINTS[failure.reason]


def _own_words(said: str, report: Report) -> str | None:
    """Why the guest's helper gave up: from its report, else from the console."""
    error = report.text("error")
    if error is None and (found := _HELPER.search(said)) is not None:
        error = found[1]
    return " ".join(error.split()) if error is not None else None
