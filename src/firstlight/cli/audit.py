"""`firstlight audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.output import Bundle, Json, print_json

if TYPE_CHECKING:
    from firstlight.audit.boot import Audit


def audit(
    boot: Bundle,
    limit: Annotated[
        int | None,
        typer.Option("-n", "--limit", min=0, help="How many exceptions of each kind (default: 10, all with --json)."),
    ] = None,
    json: Json = False,
) -> None:
    """Boot the recipe of a bundle again with a second, independent observer, and say how far the profile agrees with it.

    The second observer counts instructions and entries by address, and follows stacks by the stack pointer; it shares no
    mechanism with the recorder. Exit code 0 when the agreement is within its limits, else 1.

    \b
    Examples:
      firstlight audit a.boot
      firstlight audit a.boot --json | jq .shares
    """
    from firstlight.audit.boot import audit as audit_boot
    from firstlight.lab.progress import progress_for
    from firstlight.report.terminal.audit import print_audit
    from firstlight.report.terminal.console import console

    found = audit_boot(boot, progress_for())
    if json:
        print_json({"boot": str(boot), **audit_data(found, limit)})
    else:
        print_audit(console(), str(boot), found, 10 if limit is None else limit)
    raise typer.Exit(0 if found.agreement.reached else 1)


def audit_data(found: Audit, limit: int | None) -> dict[str, Any]:
    """An audit as data; counts are instructions, entries or calls."""
    from firstlight.audit.agreement import LIMITS
    from firstlight.audit.causes import with_causes

    explained = with_causes(found.agreement, found.observation.evidence)
    exceptions = [
        {"measure": each.measure, "what": each.what, "recorded": each.recorded, "observed": each.observed,
         "cause": cause}
        for measure in LIMITS
        for each, cause in [pair for pair in explained if pair[0].measure is measure][:limit]
    ]  # fmt: skip
    return {
        "reached": found.agreement.reached,
        "kernel": found.kernel,
        "processor": found.processor,
        "qemu": found.qemu,
        "instructions": {"recorded": found.recorded_instructions, "observed": found.observation.tables.instructions},
        "shares": {
            measure: {"equal": share.equal, "of": share.of, "share": share.share, "limit": LIMITS[measure],
                      "reached": share.reached}
            for measure, share in found.agreement.shares.items()
        },
        "checks": found.observation.evidence.checks,
        "happened": found.observation.evidence.happened,
        "exceptions": exceptions,
    }  # fmt: skip
