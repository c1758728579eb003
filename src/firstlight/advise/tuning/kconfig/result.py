"""What a search for a kernel tried, as it is stored."""

from __future__ import annotations

from firstlight.advise.tuning.kconfig.minimise import Stage
from firstlight.frozen import FrozenModel


class TriedKernel(FrozenModel):
    """A kernel that was built."""

    groups: int
    """How many groups of options it lacks."""
    options: int
    """How many options are set."""
    stage: Stage
    time_ns: int | None
    """Of the goal."""
    why: str = ""
    """Why it does not count."""


class KernelSearch(FrozenModel):
    """The search for the smallest kernel."""

    features: tuple[str, ...]
    """What was kept."""
    smallest: bool
    builds: int
    """The budget of builds."""
    complete: bool
    """Whether it sufficed."""
    trouble: str
    """Why the kernel with all groups fails; empty when it does not, or was not needed."""
    options_before: int
    """Options that the distribution's kernel sets."""
    options_after: int | None
    """Options that the found kernel sets."""
    modules_left_out: int
    """Modules that no kernel of the search has, because the boot did not load them."""
    modules_kept: tuple[str, ...]
    """Modules that the boot loaded."""
    without: tuple[str, ...]
    """The groups that the found kernel lacks, in words."""
    restored: dict[str, str]
    """Why a group stays."""
    tried: tuple[TriedKernel, ...]
