"""Zstandard: the standard library's module from Python 3.14 on, its backport before."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdDecompressor,
        ZstdError,
        ZstdFile,
        compress,
        decompress,
    )
else:
    from backports.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdDecompressor,
        ZstdError,
        ZstdFile,
        compress,
        decompress,
    )

__all__ = [
    "CompressionParameter",
    "ZstdDecompressor",
    "ZstdError",
    "ZstdFile",
    "compress",
    "decompress",
    "kernel_decompressor",
]


def kernel_decompressor() -> ZstdDecompressor:
    """A decompressor for what the kernel's build compresses: with windows of up to 2 GiB, as `zstd --ultra` may use.

    >>> kernel_decompressor().decompress(compress(b"initramfs"))
    b'initramfs'
    """
    return ZstdDecompressor(options={DecompressionParameter.window_log_max: 31})
