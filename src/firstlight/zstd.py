"""Zstandard: the standard library's module from Python 3.14 on, its backport before."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CompressionParameter = zstd.CompressionParameter
ZstdDecompressor = zstd.ZstdDecompressor
ZstdError = zstd.ZstdError
ZstdFile = zstd.ZstdFile
compress = zstd.compress
decompress = zstd.decompress

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
    return ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 31})
