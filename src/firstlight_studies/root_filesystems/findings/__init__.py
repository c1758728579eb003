"""What was concluded about 2004, and what the figures say now."""

from firstlight.study import Finding
from firstlight_studies.root_filesystems.findings.drivers import preemption, probe
from firstlight_studies.root_filesystems.findings.figures import RootFigures
from firstlight_studies.root_filesystems.findings.journals import postponed, replay
from firstlight_studies.root_filesystems.findings.kernel import instrumented, pages, preset_lpj, quiet, tables
from firstlight_studies.root_filesystems.findings.roots import in_place, jffs2, ram_disk, romfs

__all__ = ["RootFigures", "findings"]


def findings(figures: RootFigures) -> tuple[Finding, ...]:
    """Every conclusion of the old study, with its figure then and here."""
    return (
        in_place(figures), preset_lpj(figures), quiet(figures), romfs(figures), jffs2(figures),
        ram_disk(figures), replay(figures), postponed(figures), instrumented(figures), pages(figures),
        tables(figures), probe(figures), preemption(figures),
    )  # fmt: skip
