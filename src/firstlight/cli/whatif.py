"""`firstlight whatif`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, ForceBundle, Json, Trust
from firstlight.errors import UsageError

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")


def whatif(
    boot: Bundle,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Take out a unit, process, initcall, system call, function or file (repeatable)."
        ),
    ] = None,
    faster: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=50%", help="Make the work of NAME take this much less time (repeatable)."),
    ] = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Boot the recipe without the work and print the prediction's error.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="NAME.boot", help="Store the bundle of the boot with the change here."),
    ] = None,
    force: ForceBundle = False,
    trust: Trust = False,
    rows: Annotated[
        int, typer.Option("-n", "--rows", min=0, help="Maximum number of programs of the predicted path.")
    ] = 12,
    json: Json = False,
) -> None:
    """Predict when a boot would be ready without some of its work, or if work took less.

    The runs, sleeps and wake-ups of all threads are replayed on one processor with less work. Without a change, the
    replay gives the record exactly. The output has the new ready, all marks, what the path consists of then, and what
    the replay cannot know. `--prove` boots the change: a unit is masked, an initcall is blacklisted, a generator of
    systemd is switched off. A file is a program or library by its path or file name, such as `libc.so.6`; `ld.so` is
    the dynamic linker. Files and functions of user mode need a recording with `--user-functions`.

    \b
    Examples:
      firstlight whatif a.boot --without e2scrub_reap.service
      firstlight whatif a.boot --faster 'finit_module=50%' --without cron.service
      firstlight whatif a.boot --faster 'ld.so=50%'
      firstlight whatif a.boot --without crypto_algapi_init --prove
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.whatif import forecast_data, forecast_report

    if output is not None and not prove:
        raise UsageError("`--output` stores the boot of `--prove`", where=str(output), hint="add `--prove`")
    forecast = api.whatif(
        boot, without=without or (), faster=parse_faster(faster or []), prove=prove, output=output, force=force,
        trust=trust, progress=True,
    )  # fmt: skip
    if json:
        print_json({"boot": str(boot), **forecast_data(forecast.prediction, forecast.proof)})
    else:
        print_report(forecast_report(api.open(boot), forecast.prediction, forecast.proof, rows))


def parse_faster(texts: Sequence[str]) -> dict[str, float]:
    """What `--faster` says: how much less time each name takes.

    :raises UsageError: when a text is no `NAME=PERCENT%`.

    >>> parse_faster(["ld.so=50%", "a=b.service=2.5 %"])
    {'ld.so': 0.5, 'a=b.service': 0.025}
    """
    shares: dict[str, float] = {}
    for text in texts:
        name, _, share = text.rpartition("=")
        match = _PERCENT.fullmatch(share.strip())
        if not name or match is None:
            raise UsageError(f"`{text}` is not NAME=PERCENT%", where="--faster", hint="such as `finit_module=50%`")
        if name in shares:
            raise UsageError(f"`{name}` is given twice", where="--faster", hint="give it once")
        shares[name] = float(match[1]) / 100
    return shares
