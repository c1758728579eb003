"""Whether the statements of a manifest go together: what a boot was made of, how it ended, and what it counted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from firstlight.bundle.invariants import missing_invariant, wrong_verdict
from firstlight.bundle.manifest import BootState, Manifest
from firstlight.errors import FirstlightError
from firstlight.quantities import parse_size
from firstlight.recipe.command import repeat_command
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.recipe import Recipe

_MIB = 1 << 20


def contradiction(manifest: Manifest) -> str | None:
    """The first field that another one contradicts, and how; nothing where all go together.

    >>> import firstlight
    >>> contradiction(firstlight.open(bundle).manifest) is None
    True
    """
    found = next(_all(manifest), None)
    return None if found is None else f"`{found[0]}`: {found[1]}"


def _all(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield from _outcome(manifest)
    if isinstance(manifest.recipe, Recipe):
        yield from _recipe(manifest, manifest.recipe)
        yield from _repeat(manifest, manifest.recipe)
    yield from _clock(manifest)
    yield from _invariants(manifest)


def _outcome(manifest: Manifest) -> Iterator[tuple[str, str]]:
    if manifest.status == BootState.FAILED and manifest.failure is None:
        yield "status", "it is `failed`, and `failure` says nothing"
    if manifest.status == BootState.COMPLETE and manifest.failure is not None:
        yield "status", f"it is `complete`, and `failure` says `{manifest.failure.reason}`"


def _recipe(manifest: Manifest, recipe: Recipe) -> Iterator[tuple[str, str]]:
    chosen = recipe.chosen
    mode = RecordMode.LIVE if chosen.live else RecordMode.EXACT
    if manifest.mode != mode:
        yield "mode", f"it is `{manifest.mode}`, and the recipe is of an `{mode}` boot"
    for name in ("cpu", "machine"):
        said, made = getattr(chosen, name), getattr(recipe, name)
        if said and said != made:
            yield f"recipe.{name}", f"it is {made!r:.60}, and `chosen` says {said!r:.60}"
    if chosen.memory is not None and recipe.memory != _memory(chosen.memory):
        yield "recipe.memory", f"it is `{recipe.memory // _MIB}M`, and `chosen` says {chosen.memory!r:.60}"
    append = chosen.append.strip()
    if append and not f" {recipe.command_line}".endswith(f" {append}"):
        yield "recipe.command_line", f"it does not end with the chosen `append`: {append!r:.60}"


def _memory(text: str) -> int | None:
    try:
        return max(_MIB, parse_size(text) // _MIB * _MIB)
    except (FirstlightError, ValueError):
        return None


def _repeat(manifest: Manifest, recipe: Recipe) -> Iterator[tuple[str, str]]:
    """The path behind `-o` is the only word that the recipe does not give."""
    try:
        output = shlex.split(manifest.reproduce)[-1]
    except (ValueError, IndexError):
        output = ""
    if manifest.reproduce != repeat_command(recipe.chosen, Path(output)):
        yield "reproduce", f"it is not the command that makes this recipe: {manifest.reproduce!r:.60}"


def _clock(manifest: Manifest) -> Iterator[tuple[str, str]]:
    shift, totals = manifest.clock.icount_shift, manifest.totals
    if manifest.mode != RecordMode.EXACT:
        return
    if isinstance(manifest.recipe, Recipe) and shift != manifest.recipe.chosen.shift:
        yield "clock.icount_shift", f"it is {shift}, and `recipe.chosen.shift` {manifest.recipe.chosen.shift}"
    for name in ("instructions", "virtual_ns", "idle_ns"):
        if (getattr(totals, name) or 0) < 0:
            yield f"totals.{name}", f"it is {getattr(totals, name):,}, less than nothing"
        if _profiled(manifest) and getattr(totals, name) is None:
            yield f"totals.{name}", "it is null, and the boot has a profile"
    if shift is None or totals.instructions is None or totals.virtual_ns is None or totals.idle_ns is None:
        return
    lasts = (totals.instructions << shift) + totals.idle_ns
    if totals.virtual_ns != lasts:
        yield "totals.virtual_ns", f"it is {totals.virtual_ns:,}, and instructions and idle time make {lasts:,}"


def _profiled(manifest: Manifest) -> bool:
    calls = manifest.tables.get("calls")
    return manifest.mode == RecordMode.EXACT and calls is not None and calls.rows > 0


def _invariants(manifest: Manifest) -> Iterator[tuple[str, str]]:
    if manifest.mode != RecordMode.EXACT:
        return
    missing = missing_invariant(manifest) if _profiled(manifest) else None
    if missing is not None:
        yield f"invariants.{missing}", "it is missing, and the boot has a profile"
    for name, invariant in manifest.invariants.items():
        why = wrong_verdict(name, invariant)
        if why is not None:
            yield f"invariants.{name}", why
    sums = manifest.invariants.get("self_sums_to_executed")
    if sums is not None and sums.holds and sums.value != manifest.totals.instructions:
        yield "totals.instructions", f"it is {manifest.totals.instructions}, and the functions executed {sums.value}"
