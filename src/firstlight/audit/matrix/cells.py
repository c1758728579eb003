"""Which boots the support matrix consists of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from firstlight.recipe.isa import DEFAULT
from firstlight.recipe.isa.architecture import AuditedProcessors


class Extent(StrEnum):
    """How much of the matrix."""

    QUICK = "quick"
    FULL = "full"


class Mitigations(StrEnum):
    """The parameters of the kernel's command line about the processor's vulnerabilities."""

    DEFAULT = ""
    OFF = "mitigations=off"
    STUFFING = "retbleed=stuff"
    RETPOLINE = "spectre_v2=retpoline"

    @property
    def label(self) -> str:
        """As the user reads it."""
        return self.value or "default"


# The kernel stuffs the return stack from 6.2 on (`retbleed_select_mitigation`).
_STUFFING_SINCE = (6, 2)


@dataclass(frozen=True)
class Cell:
    """One boot of the matrix."""

    kernel: Path
    release: str
    processor: str
    """A versioned model of QEMU."""
    mitigations: Mitigations
    qemu: Path | None
    """`None`: the machine's own."""


def cells(
    extent: Extent,
    kernels: Sequence[tuple[Path, str]],
    qemus: Sequence[Path | None],
    processors: Sequence[str] | None = None,
) -> list[Cell]:
    """The boots of the matrix, in the order of its document.

    :param kernels: each with its release.
    :param qemus: `None` is the machine's own.
    :param processors: models in place of those of the matrix; as QEMU names them, with a version.

    >>> made = cells(Extent.QUICK, [(Path("vmlinuz"), "6.12.1")], [None])
    >>> [(cell.processor, cell.mitigations.label) for cell in made]
    [('qemu64-v1', 'default'), ('EPYC-Milan-v1', 'default'), ('Skylake-Client-v1', 'default'), \
('Skylake-Client-v1', 'retbleed=stuff')]
    """
    return [
        Cell(kernel, release, processor, mitigations, qemu)
        for kernel, release in kernels
        for qemu in qemus
        for processor in (processors if processors is not None else _models(extent))
        for mitigations in _mitigations(extent, processor, release)
    ]


def _audited() -> AuditedProcessors:
    assert DEFAULT.audited is not None, "the matrix is of the architecture that was audited first"
    return DEFAULT.audited


def _models(extent: Extent) -> list[str]:
    audited = _audited()
    return [f"{name}-v1" for name in (audited.full if extent is Extent.FULL else audited.quick)]


def _mitigations(extent: Extent, processor: str, release: str) -> Iterator[Mitigations]:
    yield Mitigations.DEFAULT
    if extent is Extent.FULL:
        yield Mitigations.OFF
        yield Mitigations.RETPOLINE
    if processor.startswith(_audited().stuffed) and _version(release) >= _STUFFING_SINCE:
        yield Mitigations.STUFFING


def _version(release: str) -> tuple[int, int]:
    """The first two numbers of a release.

    >>> _version("6.12.107+deb13-cloud-amd64")
    (6, 12)
    """
    found = re.match(r"(\d{1,6})\.(\d{1,6})", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)
