"""Kernel modules that a boot needs before its root is mounted: their order and content.

A module names its dependencies itself (section ``.modinfo``), so a package that was only unpacked, without ``depmod``,
works like an installed one.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight._core import elf_section
from firstlight.errors import LabError
from firstlight.lab.kernel.kernel import Kernel
from firstlight.zstd import ZstdError, decompress


@dataclass(frozen=True)
class Module:
    """A kernel module, ready to be loaded.

    ``name`` has underscores, as ``/proc/modules`` shows it; ``content`` is the module decompressed.
    """

    name: str
    content: bytes


def modules_for(kernel: Kernel, names: Sequence[str]) -> list[Module]:
    """The modules that have to be loaded for *names*, in the order of loading.

    Built-in ones are left out. Of a kernel without a module directory everything counts as built in: it is unknown.

    :param kernel: the kernel; its ``modules`` directory is searched.
    :param names: names as for ``modprobe``.
    :raises LabError: when the kernel has no such module, or one cannot be read.
    """
    if kernel.modules is None:
        return []
    return _Search(kernel.modules).load(names)


def require_built_in(kernel: Kernel, symbols: Path, signs: Mapping[str, str]) -> None:
    """Make sure that a kernel whose modules were not found needs none, by its own symbols.

    :param symbols: its symbols, in the form of `/proc/kallsyms`, taken before any module was loaded.
    :param signs: of each thing that is needed a function that the kernel has when that is built in.
    :raises LabError: naming what is missing.
    """
    if kernel.modules is not None:
        return
    with symbols.open(encoding="utf-8", errors="replace") as lines:
        names = {fields[2] for fields in map(str.split, lines) if len(fields) == 3}
    missing = [f"`{name}`" for name, sign in signs.items() if sign not in names]
    if not missing:
        return
    release = kernel.release or "RELEASE"
    folder = kernel.path.resolve().parent
    raise LabError(
        f"this kernel lacks built-in drivers for a root file system in memory ({', '.join(missing)}), and its "
        "modules were not found",
        where=str(kernel.path),
        hint=f"put them at `{folder / 'lib/modules' / release}`, or give the kernel in its unpacked package: "
        f"`boot/vmlinuz-{release}` next to `lib/modules/{release}`",
    )


class _Search:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = module_files(folder)
        self._built_in = _built_in(folder)
        self._loaded: dict[str, Module] = {}
        self._visiting: set[str] = set()

    def load(self, names: Sequence[str]) -> list[Module]:
        for name in names:
            self._visit(_canonical(name), wanted_by=None)
        return list(self._loaded.values())

    def _visit(self, name: str, wanted_by: str | None) -> None:
        # A soft dependency may point back; a hard one cannot.
        if name in self._loaded or name in self._built_in or name in self._visiting:
            return
        if name not in self._files:
            needs = f", which `{wanted_by}` needs" if wanted_by else ""
            hint = "use a kernel that has it, built in or as a module"
            raise LabError(f"the kernel has no module `{name}`{needs}", where=str(self._folder), hint=hint)
        content = read_module(self._files[name])
        information = module_information(content, self._files[name])
        self._visiting.add(name)
        before, after = _soft_dependencies(information.get("softdep", []))
        for soft in filter(None, map(self._known, before)):
            self._visit(soft, wanted_by=name)
        for hard in filter(None, ",".join(information.get("depends", [])).split(",")):
            self._visit(_canonical(hard), wanted_by=name)
        self._loaded[name] = Module(name, content)
        for soft in filter(None, map(self._known, after)):
            self._visit(soft, wanted_by=name)

    def _known(self, name: str) -> str | None:
        """A soft dependency may name an algorithm of the kernel's; its portable module works on every processor."""
        algorithm = _canonical(name).removeprefix("crypto_")
        candidates = (_canonical(name), algorithm, f"{algorithm}_generic")
        return next((name for name in candidates if name in self._files), None)


def read_module(path: Path) -> bytes:
    """A module's content, decompressed by the ending of its name.

    :raises LabError: when it cannot be read or is damaged.
    """
    expand: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".xz": lzma.decompress, ".zst": decompress}
    try:
        content = path.read_bytes()
        return expand[path.suffix](content) if path.suffix in expand else content
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ZstdError) as error:
        raise LabError(f"cannot read the module: {error}", where=str(path)) from error


def module_information(content: bytes, path: Path) -> dict[str, list[str]]:
    """What a module says of itself: the values of each key of its section ``.modinfo``.

    :param path: for the message of an error.
    :raises LabError: when the content is not an ELF file with that section.
    """
    try:
        section = elf_section(content, ".modinfo")
    except ValueError:
        section = None
    if section is None:
        raise LabError("not a kernel module, or a truncated one", where=str(path))
    information: dict[str, list[str]] = {}
    for field in section.split(b"\0"):
        key, equals, value = field.decode(errors="replace").partition("=")
        if equals:
            information.setdefault(key, []).append(value)
    return information


def _canonical(name: str) -> str:
    return name.strip().replace("-", "_")


def _module_name(file: str) -> str:
    return _canonical(file.rsplit("/", 1)[-1].split(".ko", 1)[0])


def module_files(folder: Path) -> dict[str, Path]:
    """Every module by name; where two have one name the one in ``updates`` counts, as for ``depmod``."""
    found = sorted(path for path in folder.rglob("*.ko*") if path.suffix in (".ko", ".gz", ".xz", ".zst"))
    found.sort(key=lambda path: path.relative_to(folder).parts[0] == "updates")
    return {_module_name(path.name): path for path in found}


def _built_in(folder: Path) -> set[str]:
    try:
        return {_module_name(line) for line in (folder / "modules.builtin").read_text().splitlines()}
    except (OSError, UnicodeDecodeError):
        return set()


def _soft_dependencies(fields: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is loaded before, and what after.

    >>> _soft_dependencies(["pre: crc32c a post: b"])
    (['crc32c', 'a'], ['b'])
    """
    before: list[str] = []
    after: list[str] = []
    current = before
    for word in " ".join(fields).split():
        if word in ("pre:", "post:"):
            current = before if word == "pre:" else after
        else:
            current.append(word)
    return before, after
