"""From a boot to figures."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight.study import Boot, MissingValue, kept_text, stamps_of
from firstlight_studies.lvm_activation.arms import BY_KEY, Cell
from firstlight_studies.lvm_activation.programs import Programs, programs
from firstlight_studies.lvm_activation.trace import read_trace


@dataclass(frozen=True)
class ActivationFigures:
    """One boot's figures. Times are nanoseconds of virtual time."""

    active_ns: int | None
    """From power on until the last volume could be used; none where none was to become active."""
    settled_ns: int
    """From power on until udev's queue was empty after that."""
    instructions: int
    lvm_ns: int
    """What lvm2's programs computed by themselves, in user mode: without what the kernel did for them."""
    systemd_ns: int
    """What processes called systemd, the first of all among them, computed by themselves, in user mode."""
    udev_memory: int
    """Bytes that the kernel charged udev's service with, the programs that it runs among them, at most."""
    services_memory: int
    """Bytes that it charged all services with, at most."""
    programs: Programs | MissingValue


def figures(cell: Cell, boot: Boot) -> ActivationFigures | MissingValue:
    """The figures of an arm's boot, or why it has none: a boot in which not all volumes became active shows nothing."""
    stamps = stamps_of(boot)
    said = kept_text(boot, "errors").strip()
    if said:
        return MissingValue(said.splitlines()[0])
    expected = cell.volumes.count if BY_KEY[cell.setting].activates else 0
    active = kept_text(boot, "active").strip()
    if active != str(expected):
        return MissingValue(why_not_active(boot, expected, active))
    memory = _memory(boot)
    if "settled" not in stamps or len(memory) < 2:
        return MissingValue("the guest did not say when it had settled")
    if expected and "volumes" not in stamps:
        return MissingValue("the guest did not say when the last volume was active")
    totals = boot.manifest.totals
    if totals.instructions is None:
        return MissingValue("the boot has no profile")
    return ActivationFigures(
        active_ns=stamps["volumes"] if expected else None,
        settled_ns=stamps["settled"],
        instructions=totals.instructions,
        lvm_ns=_own_time(boot, "[user lvm]"),
        systemd_ns=_own_time(boot, "[user systemd]"),
        udev_memory=memory["system.slice/systemd-udevd.service"],
        services_memory=memory["system.slice"],
        programs=programs(read_trace(boot.kept("trace.gz") or b""))
        if cell.trace
        else MissingValue("not noted in this arm"),
    )


def versions(boot: Boot) -> str:
    """What was booted: the kernel, systemd and lvm2, with their versions."""
    facts = {row["fact"]: row["value"] for row in boot.facts().iter_rows(named=True)}
    packages = kept_text(boot, "versions").split("\n")
    return ", ".join([f"Linux {facts.get('kernel.release', 'of an unknown version')}", *filter(None, packages)])


def why_not_active(boot: Boot, expected: int, active: str) -> str:
    """Why not all volumes came up, as far as the guest says."""
    console = boot.log()["text"].to_list()
    if any("Out of memory" in line or "out of memory" in line for line in console):
        return f"too little memory for {expected:,} volumes: the guest ran out of its {_size(boot)}"
    return f"{active or 'none'} of {expected:,} volumes became active"


def _size(boot: Boot) -> str:
    return boot.manifest.recipe_text("memory") or "memory"


def _memory(boot: Boot) -> dict[str, int]:
    pairs = (line.partition(" ") for line in kept_text(boot, "memory").splitlines())
    return {name: int(size) for name, _, size in pairs if size.isdigit()}


def _own_time(boot: Boot, function: str) -> int:
    import polars as pl

    found = boot.functions().filter(pl.col("function") == function)
    return int(found["self_ns"].sum())
