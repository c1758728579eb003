"""Where the kernel's functions lie: which stands behind which, and what the sections of its entries hold."""

from __future__ import annotations

from dataclasses import dataclass, field

# Marks of the linker script, `include/asm-generic/vmlinux.lds.h`: ENTRY_TEXT, and in it IRQENTRY_TEXT.
_SECTION = ("__entry_text_start", "__entry_text_end")
_ENTRIES = ("__irqentry_text_start", "__irqentry_text_end")
#: Of exceptions before the kernel has its own table: in the section of what is freed, `arch/x86/kernel/head_64.S`.
_EARLY = "early_idt_handler_common"


@dataclass(frozen=True)
class Layout:
    """What the text of `/proc/kallsyms` says of the kernel's own code."""

    behind: dict[str, str] = field(default_factory=dict)
    """For every function the one behind it; of several at one address the first."""
    entry_section: frozenset[str] = frozenset()
    """Everything in the section of the kernel's entries."""
    entries: frozenset[str] = frozenset()
    """Where interrupts and exceptions enter the kernel."""


def layout(symbols: str) -> Layout:
    """Read the order of functions from the text of `/proc/kallsyms`; lines of modules and damaged ones are left out.

    >>> text = "10 T __entry_text_start\\n10 T __irqentry_text_start\\n10 T asm_exc\\n20 T __irqentry_text_end\\n"
    >>> found = layout(text + "20 T asm_load_gs_index\\n30 T __entry_text_end\\n30 T f\\n40 t g\\n")
    >>> found.behind["asm_exc"], found.behind["f"], sorted(found.entry_section), sorted(found.entries)
    ('asm_load_gs_index', 'g', ['asm_exc', 'asm_load_gs_index'], ['asm_exc', 'early_idt_handler_common'])
    """
    at: dict[int, list[str]] = {}
    for line in symbols.splitlines():
        words = line.split()
        if len(words) != 3 or words[1] not in ("t", "T", "w", "W"):
            continue
        try:
            at.setdefault(int(words[0], 16), []).append(words[2])
        except ValueError:
            continue
    behind: dict[str, str] = {}
    before: list[str] = []
    for address in sorted(at):
        names = [name for name in at[address] if name not in (*_SECTION, *_ENTRIES)]
        for name in before if names else []:
            behind.setdefault(name, names[0])
        before = names or before
    return Layout(behind, frozenset(_between(at, *_SECTION)), frozenset(_between(at, *_ENTRIES)) | {_EARLY})


def _between(at: dict[int, list[str]], first: str, last: str) -> set[str]:
    found: set[str] = set()
    inside = False
    for address in sorted(at):
        inside = (inside or first in at[address]) and last not in at[address]
        if inside:
            found |= set(at[address]) - {*_SECTION, *_ENTRIES}
    return found
