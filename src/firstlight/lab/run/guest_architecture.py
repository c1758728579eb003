"""The processor architecture of a recording's guest."""

from __future__ import annotations

from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import architecture_of_kernel, open_kernel
from firstlight.recipe.isa import Architecture, chosen_architecture
from firstlight.recipe.options import RecordOptions


def guest_architecture(options: RecordOptions) -> Architecture:
    """The guest's architecture: the chosen one, which the kernel has to be for, or the kernel's.

    :raises UsageError: for a name that no architecture has.
    :raises LabError: when the kernel is for another one, or is none.

    >>> from pathlib import Path
    >>> guest_architecture(RecordOptions(Path("a.boot"), arch="arm64")).name
    'aarch64'
    """
    of_kernel = architecture_of_kernel(options.kernel)
    if options.arch is None:
        return of_kernel
    chosen = chosen_architecture(options.arch)
    if options.kernel is not None and options.kernel.is_file() and of_kernel is not chosen:
        # A file that is not a kernel at all is named as what it is.
        open_kernel(options.kernel)
        raise LabError(
            f"this is a kernel for {of_kernel.name}, not for {chosen.name}",
            where=str(options.kernel),
            hint=f"leave `--arch` out, or give a kernel for {chosen.name}",
        )
    return chosen
