"""`firstlight verify`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json, Trust

_OTHER_QEMU = (
    "hint: another QEMU may be another machine: give the recorded one with `--qemu`, or this one to compare both"
)


def verify(
    boot: Bundle,
    qemu: Annotated[
        Path | None,
        typer.Option(metavar="PATH", readable=False, help="Boot with this QEMU instead of the recorded one."),
    ] = None,
    kernel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Kernel for a bundle that this machine did not record."),
    ] = None,
    initrd: Annotated[
        Path | None, typer.Option(metavar="FILE", readable=False, help="Initramfs for such a bundle.")
    ] = None,
    rootfs: Annotated[
        str | None, typer.Option(metavar="DIR|IMAGE|TAR", help="Root file system for such a bundle.")
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(metavar="DIR", readable=False, help="Overlay for such a bundle.")
    ] = None,
    initramfs_files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="Additional initramfs files for such a bundle."),
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Boot the recipe of a bundle again, compare every table, and report the first differences.

    The exit code is 0 if all tables are equal, otherwise 1. If an input differs from the recorded one, it is reported
    and nothing is booted. A rebuilt plugin does not change the boot and is only reported. For a bundle that this
    machine did not record, no path of it is opened and no program of it is started: pass its files as options, or use
    --trust.

    \b
    Examples:
      firstlight verify a.boot
      firstlight verify a.boot --json | jq .data.equal
      firstlight verify from-a-report.boot --kernel bzImage
    """
    given = {"kernel": kernel, "initrd": initrd, "rootfs": rootfs, "overlay": overlay,
             "initramfs_files": initramfs_files}  # fmt: skip
    verdict = api.verify(boot, qemu=qemu, given=given, trust=trust, progress=True)
    if json:
        print_json({"boot": str(boot), "equal": verdict.equal, **dataclasses.asdict(verdict)})
    else:
        for line in verdict_lines(boot, verdict):
            print(line)
    raise typer.Exit(0 if verdict.equal else 1)


def verdict_lines(boot: Path, verdict: api.Verification) -> list[str]:
    """The verdict in words.

    >>> verdict_lines(Path("a.boot"), api.Verification(tables={"calls": 9, "marks": 3}))
    ['a.boot: equal, 2 tables with 12 rows']

    After an update of QEMU the last line says how to go on.

    >>> from firstlight.lab.run.verify import ChangedInput
    >>> verdict_lines(Path("a.boot"), api.Verification(inputs=(ChangedInput("qemu", "1" * 64, "2" * 64),)))[-1]
    'hint: another QEMU may be another machine: give the recorded one with `--qemu`, or this one to compare both'
    """
    from firstlight.escape import printable

    name = printable(str(boot))
    changed = [
        f"  {printable(each.name)}: {_short(each.recorded)} when recorded, {_short(each.now)} now"
        for each in (*verdict.inputs, *verdict.observers)
    ]
    if verdict.inputs:
        hints = [_OTHER_QEMU] if any(each.name == "qemu" for each in verdict.inputs) else []
        return [f"{name}: not booted, an input differs from the recorded one", *changed, *hints]
    with_another = " with another " + " and ".join(each.name for each in verdict.observers) if verdict.observers else ""
    if verdict.equal:
        rows = sum(verdict.tables.values())
        return [f"{name}: equal{with_another}, {len(verdict.tables)} tables with {rows:,} rows", *changed]
    lines = [f"{name}: differs{with_another}", *changed]
    if verdict.outcome is not None:
        lines.append(f"  {printable(verdict.outcome)}")
    return lines + [f"  {printable(difference.describe())}" for difference in verdict.differences]


def _short(digest: str | None) -> str:
    """Enough of a digest to distinguish two."""
    return "none" if digest is None else digest[:12]
