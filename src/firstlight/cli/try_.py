"""`firstlight try`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Append, ForceBundle, GuestCommand, Json, Trust

_REGRESSION = 3


def try_(
    against: Annotated[
        Path, typer.Option("--against", metavar="BOOT", readable=False, help="The boot to change; it is the baseline.")
    ],
    append: Append = "",
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", readable=False, help="Another kernel.")] = None,
    initrd: Annotated[Path | None, typer.Option(metavar="FILE", readable=False, help="Another initramfs.")] = None,
    rootfs: Annotated[
        str | None, typer.Option(metavar="DIR|IMAGE|TAR|debian", help="Another root file system.")
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(metavar="DIR", readable=False, help="Files to add to the guest.")
    ] = None,
    guest_command: GuestCommand = None,
    memory: Annotated[str | None, typer.Option(metavar="SIZE", help="Another size of memory.")] = None,
    cpu: Annotated[str | None, typer.Option(metavar="MODEL", help="Another CPU model.")] = None,
    machine: Annotated[str | None, typer.Option(metavar="TYPE", help="Another machine type.")] = None,
    qemu_option: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="Additional QEMU argument (repeatable).")
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(
            metavar="LIMIT", help="Exit with code 3 if the boot is slower by more than this: `0.5%`, `2ms`, `0`."
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            "-n", "--rows", min=0, help="Maximum number of rows of each level (default: 10, all with --json)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="NAME.boot", help="Store the bundle of the changed boot here."),
    ] = None,
    force: ForceBundle = False,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Boot the recipe of a recorded boot with one change and show its effect.

    The baseline is booted again only if its inputs changed. A change that was tried before comes from the cache.

    \b
    Examples:
      firstlight try --append "quiet" --against a.boot
      firstlight try --kernel vmlinuz --against a.boot --limit 0.1%
      firstlight try --memory 1G --against a.boot -o b.boot
    """
    # What compares takes seconds to load, and is needed only after the boot: meanwhile is the time.
    Thread(target=_load, daemon=True).start()
    changes = {"kernel": kernel, "initrd": initrd, "rootfs": rootfs, "overlay": overlay, "memory": memory, "cpu": cpu,
               "machine": machine}  # fmt: skip
    trial = api.try_(
        against, append=append, guest_commands=guest_command or (), qemu_options=qemu_option or (), limit=limit,
        output=output, force=force, trust=trust, progress=True,
        **{name: value for name, value in changes.items() if value is not None},
    )  # fmt: skip
    difference, allowed = trial.difference, trial.allowed
    if json:
        from firstlight.render.difference_json import difference_data

        booted = {"baseline": trial.baseline_booted, "changed": trial.changed_booted}
        print_json({"booted": booted, "limit": limit, "regression": not allowed, **difference_data(difference, rows)})
    else:
        from firstlight.render.model.report import BLANK
        from firstlight.render.terminal.report import print_report
        from firstlight.render.views.compare import difference_report
        from firstlight.render.views.experiment.trial import trial_verdict

        # A path in the cache means nothing to the user.
        changed = "the change (only in the cache; `-o NAME.boot` keeps it)" if output is None else str(output)
        again = " (booted again)" if trial.baseline_booted else ""
        shown = difference_report(difference, 10 if rows is None else rows, names=(f"{against}{again}", changed))
        print_report([*shown, BLANK, trial_verdict(difference, trial.tolerance, allowed, trial.band)])
    raise typer.Exit(0 if allowed else _REGRESSION)


def _load() -> None:
    for module in ("firstlight.render.views.experiment.trial", "firstlight.render.views.compare"):
        import_module(module)
