"""Applies a remedy, a difference of recipes, to the choices of a recording."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from firstlight.advise.entry import Layer, Remedy
from firstlight.errors import UsageError
from firstlight.experiment.change import FileChange
from firstlight.experiment.files import overlay_for
from firstlight.recipe.options import RecordOptions

_MASKED = "/etc/systemd/system/"


def with_remedy(
    options: RecordOptions, remedy: Remedy, facts: Mapping[str, str], folder: Path, kernel: Path | None = None
) -> RecordOptions:
    """The choices of a recording with a remedy.

    :param facts: of the boot: the parameters of a remedy may contain them, such as `lpj={kernel.lpj}`.
    :param folder: for the files of the remedy; it must exist until the boot is recorded.
    :param kernel: built with the remedy's lines of configuration.
    :raises UsageError: when the remedy cannot be applied to such a recording, or a fact is missing.

    >>> from firstlight.advise.read import catalogue
    >>> options = RecordOptions(output=Path("a.boot"), append="boot_delay=5 quiet")
    >>> with_remedy(options, catalogue().entry("CON-06").remedies[0], {}, Path(".")).append
    'quiet'
    """
    if not remedy.is_applicable:
        raise UsageError("this remedy is applied by hand", hint=remedy.by_hand)
    match remedy.layer:
        case Layer.CMDLINE:
            return replace(options, append=_words(options.append, remedy, facts))
        case Layer.KCONFIG:
            if kernel is None:
                raise UsageError("this remedy needs a kernel build", hint="\n".join(remedy.kconfig))
            return replace(options, kernel=kernel)
        case Layer.INITRAMFS if remedy.compression is not None:
            return replace(options, initrd=_recompressed(options.initrd, remedy.compression, folder))
        case Layer.INITRAMFS | Layer.ROOTFS:
            return _with_files(options, remedy, folder)
        case Layer.MACHINE:
            left = _without(options.qemu_options, remedy.without_options)
            return replace(
                options,
                qemu_options=left,
                cpu=remedy.cpu or options.cpu,
                machine=remedy.machine or options.machine,
                memory=remedy.memory or options.memory,
            )


def _words(append: str, remedy: Remedy, facts: Mapping[str, str]) -> str:
    kept = [word for word in append.split() if not any(re.fullmatch(each, word) for each in remedy.without)]
    filled = remedy.filled(facts)
    if missing := filled.needed_facts:
        raise UsageError(f"the remedy needs the fact `{missing[0]}`, which this boot does not have")
    return " ".join([*kept, *filled.words.split()])


def _without(options: tuple[str, ...], patterns: tuple[str, ...]) -> tuple[str, ...]:
    """QEMU's arguments without those that match a pattern."""
    return tuple(option for option in options if not any(re.fullmatch(each, option) for each in patterns))


def _with_files(options: RecordOptions, remedy: Remedy, folder: Path) -> RecordOptions:
    files: dict[str, FileChange] = dict(remedy.files)
    files |= {f"{_MASKED}{unit}": FileChange(link="/dev/null") for unit in remedy.mask}
    added = overlay_for(files, folder)
    if remedy.layer is Layer.ROOTFS or options.rootfs is None:
        return replace(options, overlay=_both(options.overlay, added, folder))
    return replace(options, initramfs_files=_both(options.initramfs_files, added, folder))


def _both(before: Path | None, added: Path | None, folder: Path) -> Path | None:
    """Merge the files of two directories into one."""
    if before is None or added is None:
        return added or before
    both = folder / "files"
    shutil.rmtree(both, ignore_errors=True)
    for each in (before, added):
        shutil.copytree(each, both, symlinks=True, dirs_exist_ok=True)
    return both


def _recompressed(initrd: Path | None, compression: str, folder: Path) -> Path:
    """Recompress an initramfs.

    :raises UsageError: when the boot has Firstlight's own, which is not compressed, or it is of an unknown kind.
    """
    import gzip
    import lzma

    from firstlight import zstd

    if initrd is None:
        raise UsageError("Firstlight's own initramfs is not compressed", hint="there is nothing to gain here")
    packed = initrd.read_bytes()
    content = packed
    for magic, unpack in {b"\x1f\x8b": gzip.decompress, b"\xfd7zXZ": lzma.decompress}.items():
        if packed.startswith(magic):
            content = unpack(packed)
    if packed.startswith(b"\x28\xb5\x2f\xfd"):
        content = zstd.decompress(packed)
    pack = {
        "none": lambda: content,
        "gzip": lambda: gzip.compress(content, mtime=0),
        "xz": lambda: lzma.compress(content, check=lzma.CHECK_CRC32),
        "zstd": lambda: zstd.compress(content),
    }
    if compression not in pack:
        raise UsageError(f"there is no compression `{compression}`", hint="none, gzip, xz or zstd")
    path = folder / f"initramfs.{compression}"
    path.write_bytes(pack[compression]())
    return path
