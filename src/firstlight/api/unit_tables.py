"""The units of systemd in a boot, and the work of systemd itself, as methods of a boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from firstlight.bundle.boot import Boot

if TYPE_CHECKING:
    from firstlight.analysis.unit_work import Manager


class UnitTables(Boot):
    """A boot with its units."""

    def units(self, *, kind: str | None = None) -> pl.DataFrame:
        """The units of systemd: how long each waited, and how long its activation took.

        :param kind: only units of this type: `service`, `mount`, …

        >>> import firstlight
        >>> "waiting_ns" in firstlight.open(bundle).units().columns
        True
        """
        from firstlight.analysis.units import units
        from firstlight.suggest import unknown_name

        every = units(self)
        if kind is not None and not every.is_empty():
            unknown_name("type of unit", kind, sorted(every["type"].unique().to_list()), str(self.directory))
        return every if kind is None else every.filter(every["type"] == kind)

    def unit_work(self, *, kind: str | None = None) -> pl.DataFrame:
        """The units with their processes, instructions, waits and their time on the critical path.

        Columns: those of :meth:`units`, and `processes`, `instructions`, `before_exec_instructions`, `own_ns`,
        `manager_ns`, `others_ns`, `idle_ns` (these four add up to the activation) and `path_ns`. They are null
        without processes.

        :param kind: as of :meth:`units`.

        >>> import firstlight
        >>> "own_ns" in firstlight.open(bundle).unit_work().columns
        True
        """
        from firstlight.analysis.unit_work import unit_work

        known = self.units(kind=kind)
        return unit_work(self).filter(pl.col("span").is_in(known["span"].implode()))

    def manager(self) -> Manager | None:
        """What the service manager itself did: its `parts`, its `generators`, and the `sums` of all instructions.

        >>> import firstlight
        >>> firstlight.open(bundle).manager() is None  # a boot without systemd
        True
        """
        from firstlight.analysis.unit_work import manager

        return manager(self)

    def failed_units(self) -> list[str]:
        """The names of the failed units, sorted."""
        from firstlight.analysis.units import failed_units

        return failed_units(self)

    def stages(self) -> pl.DataFrame:
        """The stages that systemd reports of itself: firmware, loader, kernel, initramfs, userspace."""
        from firstlight.analysis.units import stages

        return stages(self)
