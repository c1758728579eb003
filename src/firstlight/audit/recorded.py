"""The recorder's tables, as a bundle has them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from pathlib import Path

from firstlight.audit.tables import AuditFigures, Tables, folded, key
from firstlight.bundle.open import open as open_boot
from firstlight.bundle.tables import read_table
from firstlight.errors import FirstlightError
from firstlight.schema.marks import Mark
from firstlight.schema.spans import CallRow, SpanKind

# Rows of the tree that are not functions of the kernel.
_NO_FUNCTIONS = frozenset({"root", "group", "user", "firmware", "loader", "decompressor", "idle"})


def recorded_tables(
    bundle: Path, aliases: Mapping[str, str], known: Set[str] | None = None, *, consoles: bool = True
) -> Tables:
    """Sum up the calling-context tree of *bundle* by function.

    Totals are made here, from the tree: a node adds its total where no node of the same function stands above it.

    :param aliases: further names of functions, and the name that stands for them.
    :param known: the functions that the other observer has names for. Loaded code that it cannot name is one row on
        both sides; without this every name counts.
    :param consoles: whether the other observer knows the initcalls of consoles, which `console_init` calls by itself.
    :raises BundleError: when a table cannot be read.
    :raises FirstlightError: when the bundle has no profile.
    """
    calls = read_table(bundle, "calls")
    if calls.is_empty() or calls["self_instructions"].null_count() == calls.height:
        raise FirstlightError("this bundle has no profile", where=str(bundle), hint="record without `--no-profile`")
    raw = calls["function"].to_list()
    modules = calls["module"].to_list()
    parents: list[int | None] = calls["parent"].to_list()
    entries: list[int] = calls["calls"].to_list()
    own = [value or 0 for value in calls["self_instructions"].to_list()]
    totals = [value or 0 for value in calls["total_instructions"].to_list()]
    kinds = calls["kind"].to_list()
    is_row = [kind in _NO_FUNCTIONS for kind in kinds]
    names = [_name(function, module, aliases, known) for function, module in zip(raw, modules, strict=True)]

    counts: Counter[str] = Counter()
    selves: Counter[str] = Counter()
    edges: Counter[tuple[str, str]] = Counter()
    children: defaultdict[int, list[int]] = defaultdict(list)
    for node, parent in enumerate(parents):
        if parent is not None:
            children[parent].append(node)
        if is_row[node]:
            continue
        selves[names[node]] += own[node]
        caller = CallRow.BOOT if parent is None or is_row[parent] else names[parent]
        # A part that the compiler split off is entered by its own function: that is not a call.
        if not (caller == names[node] and ".cold" in raw[node]):
            counts[names[node]] += entries[node]
            edges[caller, names[node]] += entries[node]
    outermost = _outermost(names, children)
    inclusive: Counter[str] = Counter()
    for node, total in enumerate(totals):
        if outermost[node] and not is_row[node]:
            inclusive[names[node]] += total
    functions = {name: AuditFigures(counts[name], selves[name], inclusive[name]) for name in selves}
    spans = read_table(bundle, "spans")
    left_out = {"module"} if consoles else {"module", "console"}
    found = (
        name
        for kind, name, level in spans.select("kind", "name", "level").iter_rows()
        if kind == SpanKind.INITCALL and level not in left_out
    )
    executed = open_boot(bundle).manifest.totals.instructions
    return Tables(
        instructions=sum(own) if executed is None else executed,
        functions=functions,
        edges={edge: count for edge, count in edges.items() if count},
        initcalls=frozenset(aliases.get(name, name) for name in found),
        user_instructions=sum(count for count, kind in zip(own, kinds, strict=True) if kind == "user"),
        before_kernel=_before_kernel(bundle),
    )


def _before_kernel(bundle: Path) -> int:
    marks = read_table(bundle, "marks")
    counts = [
        instructions
        for mark, instructions in marks.select("mark", "instructions").iter_rows()
        if mark == Mark.KERNEL_ENTRY
    ]
    return counts[0] or 0 if counts else 0


def _name(function: str, module: str | None, aliases: Mapping[str, str], known: Set[str] | None) -> str:
    # Functions of one name may be distinguished by their address.
    name = function if function.startswith("[") else folded(function).partition("@")[0]
    if module:
        name = key(name, module)
        return name if known is None or name in known else CallRow.KERNEL_WITHOUT_SYMBOL
    return aliases.get(name, name)


def _outermost(names: list[str], children: Mapping[int, list[int]]) -> list[bool]:
    """For every node whether no node of the same name stands above it."""
    outermost = [False] * len(names)
    above: Counter[str] = Counter()
    stack = [(0, False)]
    while stack:
        node, leaving = stack.pop()
        if leaving:
            above[names[node]] -= 1
            continue
        outermost[node] = above[names[node]] == 0
        above[names[node]] += 1
        stack.append((node, True))
        stack.extend((child, False) for child in children.get(node, ()))
    return outermost
