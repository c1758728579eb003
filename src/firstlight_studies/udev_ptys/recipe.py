"""How the study is repeated by hand."""

from __future__ import annotations

from firstlight.study import Boot, MissingValue
from firstlight_studies.udev_ptys.arms import MOST


def recipe(booted: Boot | MissingValue) -> tuple[str, ...]:
    """Sentences and commands.

    :param booted: an arm, for the versions.
    """
    lines = [
        "One arm by hand: `firstlight record --kernel $(firstlight image path kernel) --rootfs $(firstlight image path "
        "debian) --overlay DIR/made/system --initramfs-files DIR/made/initramfs --append 'quiet "
        f"pty.legacy_count={MOST}' -o arm.boot`.",
        "The initramfs contains systemd-udevd, udevadm and rules like Debian's own, and does the same: start, "
        "trigger, settle, exit. The system has systemd-udev-settle.service wanted by sysinit.target.",
        "B has 256 pseudo-terminals, C none. A is B with the members of the initramfs in another order and another "
        "seed. That replaces another build of the kernel, because the study has only one; it should not matter either.",
    ]
    if not isinstance(booted, MissingValue):
        facts = booted.fact_values()
        release = facts.get("kernel.release")
        if release:
            lines.append(f"Kernel {release}, {booted.manifest.versions.get('qemu', 'QEMU')}.")
    return tuple(lines)
