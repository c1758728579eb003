"""The exact boots of the corpus: each kernel of the list with Firstlight's minimal guest, recorded once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import firstlight
from corpus.kernels import Kernel, kernels
from corpus.truth import Truth, of_boot
from firstlight.cache import cache_dir
from firstlight.errors import FirstlightError

#: The kernel prints each initcall, and the ring holds everything.
_APPEND = "initcall_debug loglevel=8 log_buf_len=4M"


@dataclass(frozen=True)
class KnownBoot:
    """A boot of a kernel, and what a record of it ought to yield."""

    kernel: Kernel
    truth: Truth


def boots() -> Iterator[KnownBoot]:
    """The boot of each kernel; one that fails is printed and left out."""
    directory = cache_dir() / "corpus"
    directory.mkdir(exist_ok=True)
    for kernel in kernels(directory / "archives"):
        bundle = directory / f"{kernel.name}.boot"
        try:
            if not bundle.exists():
                firstlight.record(bundle, kernel=kernel.image, append=_APPEND)
            yield KnownBoot(kernel, of_boot(firstlight.open(bundle), kernel.name))
        except (FirstlightError, ValueError) as error:
            print(f"left out: {kernel.name}: {error}", file=sys.stderr)
