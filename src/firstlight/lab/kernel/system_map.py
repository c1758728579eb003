"""A kernel's symbols from its `System.map`, for kernels without `/proc/kallsyms`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from firstlight.errors import LabError
from firstlight.lab.kernel.command_line.image import open_image
from firstlight.lab.kernel.kernel import Kernel

#: Fewer symbols are none: some distributions leave a line that says where the real file is.
_LEAST = 100
_BANNER = b"linux_banner"
#: Where an image begins, by the names of its architecture.
_STARTS = (b"_text", b"_start", b"_head")


def has_addresses(symbols: bytes) -> bool:
    """Whether a text in the form of `/proc/kallsyms` has addresses: a kernel may hide them as zeros.

    >>> has_addresses(b"0000000000000000 T start_kernel\\n" * 1000)
    False
    """
    return len({line.partition(b" ")[0] for line in symbols.splitlines()} - {b"0" * 16}) >= _LEAST


def has_bounds(symbols: bytes) -> bool:
    """Whether a text in the form of `/proc/kallsyms` says where the kernel's code begins and ends.

    >>> has_bounds(b"1000 T _stext\\n1000 T vfs_read\\n2000 D _etext\\n"), has_bounds(b"1000 T vfs_read\\n")
    (True, False)
    """
    names = {fields[2] for line in symbols.splitlines() if len(fields := line.split(b" ")) == 3}
    return b"_etext" in names and bool(names & {b"_stext", b"_text"})


def chosen_symbols(kernel: Kernel, printed: bytes) -> bytes | None:
    """The symbols that the kernel printed, or those of its `System.map` where these do not serve.

    :param printed: in the form of `/proc/kallsyms`; empty where it printed none.
    :returns: none where there are no symbols with addresses.
    :raises LabError: when all that there are do not say where the kernel's code begins and ends, so that no function is
        known to be the kernel's.
    """
    candidates = (text for text in (printed, system_map(kernel)) if text is not None and has_addresses(text))
    without = 0
    for text in candidates:
        if has_bounds(text):
            return text
        without += 1
    if without:
        raise LabError(
            "the kernel's symbols do not say where its code begins and ends: they lack `_stext` or `_etext`",
            where=str(kernel.path),
            hint="put the kernel's own complete `System.map` next to it, or record with `--no-profile`",
        )
    return None


def system_map(kernel: Kernel) -> bytes | None:
    """The symbols of the `System.map` beside a kernel; `None` when there is none that is this kernel's.

    It is this kernel's when the text that it calls `linux_banner` stands at that place of the kernel's image, and names
    the same release. The image of a kernel that unpacks itself is only read on x86_64: of a zImage of arm and a
    `vmlinuz` of MIPS no map is taken.
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
    if kernel.release is None:
        return False
    wanted = f"Linux version {kernel.release} ".encode()
    return any(banner.startswith(wanted) for banner in _banners(text, kernel.path.read_bytes()))


def _banners(text: bytes, file: bytes) -> Iterator[bytes]:
    """What stands in a kernel's file at the place that a map calls `linux_banner`."""
    addresses = {}
    for line in text.splitlines():
        address, _, name = line.partition(b" ")
        if name[2:] in (_BANNER, *_STARTS):
            try:
                addresses[name[2:]] = int(address, 16)
            except ValueError:
                return
    banner = addresses.pop(_BANNER, None)
    if banner is None:
        return
    image = open_image(file)
    if image is not None:
        yield (image.text_at(banner, 1024) or "").encode()
        return
    # An Image of arm64 or riscv64 is the memory of the kernel from its first address on.
    for start in addresses.values():
        if 0 <= banner - start < len(file):
            yield file[banner - start :][:1024]
