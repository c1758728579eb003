"""The functions that a kernel is linked of, with their sizes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from firstlight_studies.kernel_hotspots.hotspots import plain_name

#: Each by the symbols that it may begin with: kernels of some architectures have no symbol before `_stext`.
_SECTIONS = ((("_text", "_stext"), "_etext", False), (("_sinittext",), "_einittext", True))
_NO_FUNCTION = re.compile(r"_text|_stext|_etext|_sinittext|_einittext|__pfx_.*|__cfi_.*|__.*text_(start|end)")


@dataclass(frozen=True)
class LinkedFunction:
    """A function that stands in the kernel's text."""

    name: str
    size: int
    """Bytes up to the next one, padding and all."""
    init: bool
    """In the part that is freed after the start."""


@dataclass(frozen=True)
class Linked:
    """All of them."""

    functions: tuple[LinkedFunction, ...]

    @property
    def size(self) -> int:
        """Bytes of text."""
        return sum(each.size for each in self.functions)

    def names(self) -> Counter[str]:
        """How many functions have each name: static ones may share it."""
        return Counter(each.name for each in self.functions)

    def plain_names(self) -> frozenset[str]:
        """The names without what the compiler added."""
        return frozenset(plain_name(each.name) for each in self.functions)


def linked_functions(symbols: str) -> Linked:
    """Read the functions of a text in the form of `/proc/kallsyms`; each ends where the next one begins.

    Of several names at one address one function is made, with all names: the profile has one of them.

    >>> text = "10 T _text\\n10 T a\\n18 t b\\n18 t bb\\n30 T _etext\\n"
    >>> [(each.name, each.size) for each in linked_functions(text).functions]
    [('a', 8), ('b', 24)]
    """
    bounds: dict[str, int] = {}
    found: dict[int, str] = {}
    for words in map(str.split, symbols.splitlines()):
        if len(words) != 3:  # a fourth is the module's
            continue
        try:
            address = int(words[0], 16)
        except ValueError:
            continue
        name = words[2]
        if words[1] != "t":
            bounds.setdefault(name, address)
        if words[1] in "TtWw" and _NO_FUNCTION.fullmatch(name) is None:
            # As the profile names it: the shortest, of these the first.
            before = found.get(address)
            if before is None or (len(name), name) < (len(before), before):
                found[address] = name
    functions: list[LinkedFunction] = []
    for firsts, last, init in _SECTIONS:
        start, end = next((bounds[first] for first in firsts if first in bounds), None), bounds.get(last)
        if start is None or end is None:
            continue
        inside = sorted((address, name) for address, name in found.items() if start <= address < end)
        ends = [address for address, _ in inside[1:]] + [end]
        functions += [
            LinkedFunction(name, after - address, init) for (address, name), after in zip(inside, ends, strict=True)
        ]
    return Linked(tuple(functions))
