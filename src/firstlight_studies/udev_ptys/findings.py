"""What was concluded then, and what our figures say of it."""

from __future__ import annotations

from firstlight.study import Finding
from firstlight_studies.udev_ptys import boot_findings as boot
from firstlight_studies.udev_ptys import event_findings as event
from firstlight_studies.udev_ptys import stage_findings as stage
from firstlight_studies.udev_ptys.figures import PtyFigures


def findings(figures: PtyFigures) -> tuple[Finding, ...]:
    """Every conclusion of the old study with its verdict."""
    return (
        boot.shorter(figures),
        boot.kernel_part(figures),
        stage.trigger(figures),
        stage.early_processing(figures),
        stage.late_processing(figures),
        stage.early_share(figures),
        stage.late_share(figures),
        event.calls(figures),
        event.nodes(figures),
        *(event.sooner(figures, part) for part in ("initramfs", "system")),
        *(event.throttled(figures, part) for part in ("initramfs", "system")),
        boot.version(figures),
        boot.linear(figures),
        boot.nobody_waits(figures),
    )
