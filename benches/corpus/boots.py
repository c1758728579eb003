"""The exact boots of the corpus: each kernel of the list with Firstlight's minimal guest, recorded once."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import firstlight
from corpus.kernels import kernels
from corpus.truth import Truth, of_boot
from firstlight.cache import cache_dir
from firstlight.errors import FirstlightError

#: The kernel prints each initcall, and the ring holds everything.
_APPEND = "initcall_debug loglevel=8 log_buf_len=4M"


def truths() -> Iterator[Truth]:
    """The truth of each boot; a boot that fails is printed and left out."""
    directory = cache_dir() / "corpus"
    directory.mkdir(exist_ok=True)
    for name, kernel in kernels(directory / "archives"):
        bundle = directory / f"{name}.boot"
        try:
            if not bundle.exists():
                firstlight.record(bundle, kernel=kernel, append=_APPEND)
            yield of_boot(firstlight.open(bundle), name)
        except (FirstlightError, ValueError) as error:
            print(f"left out: {name}: {error}", file=sys.stderr)
