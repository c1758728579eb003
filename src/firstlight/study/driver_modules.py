"""Drivers as modules of a guest: written into an overlay, loaded while the guest runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.lab.kernel.kernel import default_kernel, open_kernel
from firstlight.lab.kernel.modules import modules_for
from firstlight.recipe.isa import DEFAULT, Architecture
from firstlight.study.table import MissingValue

LOAD_MODULES = "for each in /modules/*.ko; do insmod $each $(cat ${each%.ko}.par) || exit 1; done"
"""A command of the guest that loads what :func:`write_modules` wrote, in order."""


def write_modules(
    kernel: Path | MissingValue | None,
    drivers: str | Sequence[str],
    folder: Path,
    parameters: Mapping[str, str] | None = None,
    architecture: Architecture = DEFAULT,
) -> Path | MissingValue:
    """Write a driver, or several, with all modules that they need, each once.

    :param kernel: none for the distribution's.
    :param folder: the overlay to write; the modules are below its `modules/`.
    :param parameters: of each module, by its name.
    :param architecture: of the guest, for the distribution's kernel.
    :returns: the overlay, or why the kernel has no such module.
    """
    if isinstance(kernel, MissingValue):
        return kernel
    names = [drivers] if isinstance(drivers, str) else list(drivers)
    try:
        modules = modules_for(default_kernel(architecture) if kernel is None else open_kernel(kernel), names)
    except FirstlightError as error:
        return MissingValue(error.message)
    if not modules:
        return MissingValue(f"`{names[-1]}` is built into the kernel and probes before anything can be timed")
    place = folder / "modules"
    place.mkdir(parents=True, exist_ok=True)
    for number, module in enumerate(modules):
        path = place / f"{number:02}-{module.name}.ko"
        path.write_bytes(module.content)
        path.with_suffix(".par").write_text((parameters or {}).get(module.name, ""), encoding="utf-8")
    return folder


def lacks_driver(kernel: Path | None, driver: str, architecture: Architecture = DEFAULT) -> MissingValue | None:
    """Why a kernel has a driver neither as a module nor built in; nothing where it has.

    :param kernel: none for the distribution's.
    :param architecture: of the guest, for the distribution's kernel.
    """
    try:
        modules_for(default_kernel(architecture) if kernel is None else open_kernel(kernel), [driver])
    except FirstlightError as error:
        return MissingValue(error.message)
    return None
