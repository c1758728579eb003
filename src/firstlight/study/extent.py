"""How much a study boots, and on what."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from firstlight.errors import LabError, UsageError
from firstlight.lab.kernel.kernel import open_kernel
from firstlight.lab.run.validate_options import guest_memory
from firstlight.recipe.isa import Architecture, chosen_architecture
from firstlight.recipe.options import RecordOptions


@dataclass(frozen=True)
class Extent:
    """How much a study boots, and on what."""

    quick: bool = False
    """Fewer arms and smaller sizes: minutes."""
    full: bool = False
    """The largest sizes too."""
    kernel: Path | None = None
    """The kernel to boot instead of the lab's and the distribution's."""
    sizes: tuple[str, ...] = ()
    """These replace the study's own sizes; the study's `sizes` says what they count."""
    memory: str | None = None
    """Of every guest that an arm does not give another one."""
    arch: str | None = None
    """Of the guests, as the distribution calls it; none for that of this kind of machine."""

    @property
    def architecture(self) -> Architecture:
        """Of the guests.

        :raises UsageError: when there is none of that name.
        """
        return chosen_architecture(self.arch)

    @property
    def options(self) -> str:
        """The options that asked for it, each after a blank, without paths of this machine.

        >>> Extent(quick=True, sizes=("2", "4"), arch="arm64").options
        ' --arch arm64 --quick --sizes 2,4'
        """
        words = (
            self.arch and f"--arch {self.arch}",
            self.quick and "--quick",
            self.full and "--full",
            self.kernel and "--kernel KERNEL",
            self.sizes and f"--sizes {','.join(self.sizes)}",
            self.memory and f"--memory {self.memory}",
        )
        return "".join(f" {word}" for word in words if word)

    def check_kernel(self) -> None:
        """Check that the kernel of the user, if there is one, is for the guests' architecture.

        :raises LabError: when it is for another one, or is not a kernel.
        """
        if self.kernel is None:
            return
        try:
            theirs = open_kernel(self.kernel).architecture
        except LabError as error:
            if not self.kernel.exists():
                error.hint = "give the file of a kernel image, such as /boot/vmlinuz-RELEASE"
            raise
        if theirs is self.architecture:
            return
        ours = self.architecture
        raise LabError(
            f"this is a kernel for {theirs.distribution_name}, and the study boots guests of {ours.distribution_name}",
            where=str(self.kernel),
            hint=f"add `--arch {theirs.distribution_name}`, or give a kernel for {ours.distribution_name}",
        )

    def check_memory(self) -> None:
        """Check that the memory of the guests, if it is given, is a size that their machine can have.

        :raises UsageError: when it is not.

        >>> Extent(memory="2G").check_memory()
        """
        if self.memory is not None:
            guest_memory(RecordOptions(Path("arm.boot"), memory=self.memory), self.architecture)

    def counts(self, at_most: int) -> tuple[int, ...]:
        """The sizes as numbers, ascending, each once.

        :raises UsageError: for a size that is not a number from 0 to *at_most*.

        >>> Extent(sizes=("16", "4", "16")).counts(100)
        (4, 16)
        """
        for size in self.sizes:
            if not size.isdecimal() or int(size) > at_most:
                raise UsageError(f"no size: `{size}`", where="--sizes", hint=f"give numbers from 0 to {at_most:,}")
        return tuple(sorted({int(size) for size in self.sizes}))
