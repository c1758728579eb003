"""A kernel's symbols from its `System.map`, for kernels without `/proc/kallsyms`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from firstlight.lab.kernel.command_line.image import open_image
from firstlight.lab.kernel.kernel import Kernel

#: Fewer symbols are none: some distributions leave a line that says where the real file is.
_LEAST = 100
_BANNER = "linux_banner"


def has_addresses(symbols: bytes) -> bool:
    """Whether a text in the form of `/proc/kallsyms` has addresses: a kernel may hide them as zeros.

    >>> has_addresses(b"0000000000000000 T start_kernel\\n" * 1000)
    False
    """
    return len({line.partition(b" ")[0] for line in symbols.splitlines()} - {b"0" * 16}) >= _LEAST


def system_map(kernel: Kernel) -> bytes | None:
    """The symbols of the `System.map` beside a kernel; `None` when there is none that is this kernel's.

    It is this kernel's when the text that it calls `linux_banner` stands at that place of the kernel's image, and names
    the same release.
    """
    for path in _places(kernel):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if has_addresses(text) and _belongs(text, kernel):
            return text
    return None


def _places(kernel: Kernel) -> Iterator[Path]:
    path = kernel.path.resolve()
    if kernel.release is not None:
        yield path.with_name(f"System.map-{kernel.release}")
    yield path.with_name("System.map")
    if kernel.build_folder is not None:
        yield kernel.build_folder / "System.map"


def _belongs(text: bytes, kernel: Kernel) -> bool:
    line = next((line for line in text.splitlines() if line.endswith(f" {_BANNER}".encode())), None)
    image = open_image(kernel.path.read_bytes()) if line is not None else None
    if line is None or image is None or kernel.release is None:
        return False
    try:
        banner = image.text_at(int(line.partition(b" ")[0], 16), 1024)
    except ValueError:
        return False
    return banner is not None and banner.startswith(f"Linux version {kernel.release} ")
