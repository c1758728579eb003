"""`firstlight audit`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.api.write import check_free
from firstlight.cli.envelope import print_json
from firstlight.cli.output import ForceFile, Fresh, Json, Trust, Workers
from firstlight.cli.page import Page
from firstlight.errors import UsageError


def audit(
    boot: Annotated[
        Path | None, typer.Argument(metavar="[BOOT]", readable=False, help="A boot bundle, a directory `NAME.boot`.")
    ] = None,
    matrix: Annotated[
        api.MatrixExtent | None, typer.Option(metavar="EXTENT", help="Measure the support matrix: `quick` or `full`.")
    ] = None,
    kernel: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH", readable=False, help="With --matrix: audit this kernel instead of Debian's (repeatable)."
        ),
    ] = None,
    cpu: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="With --matrix: audit this processor instead of the matrix's (repeatable)."),
    ] = None,
    qemu: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            readable=False,
            help="With --matrix: boot with this QEMU instead of the one in PATH (repeatable).",
        ),
    ] = None,
    fresh: Fresh = False,
    workers: Workers = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="With --matrix: write the matrix as Markdown.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write an HTML page with the agreement and every exception; `-` prints it."
        ),
    ] = None,
    force: ForceFile = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "-n", "--limit", min=0, help="Maximum number of exceptions of each kind (default: 10, all with --json)."
        ),
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Boot a bundle's recipe again with a second, independent observer, and report how well the profile agrees.

    The second observer counts instructions and entries by address and follows stacks by the stack pointer. It shares no
    mechanism with the recorder. --matrix records and audits combinations of kernels, processors, mitigations and QEMUs;
    it skips a combination that was measured with the same digests. With --workers, other machines record the boots of
    the QEMU in PATH; the second observer runs on this machine.

    The exit code is 0 when the agreement is within its limits, otherwise 1.

    \b
    Examples:
      firstlight audit a.boot
      firstlight audit a.boot --json | jq .data.shares
      firstlight audit a.boot --html audit.html
      firstlight audit --matrix quick
      firstlight audit --matrix full --workers store:///mnt/farm
      firstlight audit --matrix full --qemu /usr/bin/qemu-system-x86_64 -o docs/reference/support-matrix.md
    """
    if boot is not None and matrix is not None:
        raise UsageError("give either a bundle or `--matrix`, not both", hint="`firstlight audit a.boot`")
    if boot is None and matrix is None:
        hint = "`firstlight audit a.boot`, or `firstlight audit --matrix quick`"
        raise UsageError("a bundle or `--matrix` is needed", hint=hint)
    if matrix is not None:
        if html is not None:
            raise UsageError("`--html` is for one bundle", hint="`--output FILE` writes the matrix as Markdown")
        if output is not None:
            check_free(output, force=force)
        _matrix(matrix, kernel or [], cpu or [], qemu or [], fresh, workers, output, force, json)
        return
    given: dict[str, object] = {
        "--kernel": kernel, "--cpu": cpu, "--qemu": qemu, "--fresh": fresh, "--workers": workers, "--output": output,
    }  # fmt: skip
    for option, value in given.items():
        if value:
            raise UsageError(f"`{option}` is for `--matrix`", hint="a bundle's recipe says what is booted")
    assert boot is not None
    page = Page.wanted(html, force, data=json)
    _bundle(boot, limit, json, page, trust=trust)


def _bundle(boot: Path, limit: int | None, json: bool, page: Page | None, *, trust: bool) -> None:
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.audit import audit_data, audit_report

    found = api.audit_boot(boot, trust=trust, progress=True)
    if page is not None:
        from firstlight.render.page.audit import audit_html

        page.write_text(audit_html(str(boot), found))
    if json:
        print_json({"boot": str(boot), **audit_data(found, limit)})
    elif page is not None:
        page.print_path()
    else:
        print_report(audit_report(str(boot), found, 10 if limit is None else limit))
    raise typer.Exit(0 if found.agreement.reached else 1)


def _matrix(
    extent: api.MatrixExtent,
    kernels: list[Path],
    cpus: list[str],
    qemus: list[Path],
    fresh: bool,
    workers: str | None,
    output: Path | None,
    force: bool,
    json: bool,
) -> None:
    from firstlight.atomic import atomic_write
    from firstlight.render.markdown.support_matrix import matrix_markdown

    with api.boots_by(workers):
        rows = api.audit_matrix(extent, kernels=kernels, cpus=cpus, qemus=qemus, fresh=fresh, progress=True)
    document = matrix_markdown(rows, _command(extent, kernels, cpus, qemus))
    if output is not None:
        with atomic_write(output, force=force) as temporary:
            temporary.write_text(document, encoding="utf-8")
    if json:
        print_json({"extent": extent.value, "rows": [row.data() for row in rows]})
    elif output is None:
        print(document, end="")
    else:
        print(output)
    raise typer.Exit(0 if all(row.reached or row.refused is not None for row in rows) else 1)


def _command(extent: api.MatrixExtent, kernels: list[Path], cpus: list[str], qemus: list[Path]) -> str:
    """What made a matrix; files by their names, since where they lie is this machine's.

    >>> _command(api.MatrixExtent.QUICK, [Path("boot/vmlinuz")], ["qemu64-v1"], [])
    'firstlight audit --matrix quick --kernel vmlinuz --cpu qemu64-v1'
    """
    given = [("--kernel", path.name) for path in kernels]
    given += [("--cpu", model) for model in cpus]
    given += [("--qemu", path.name) for path in qemus]
    words = ["firstlight", "audit", "--matrix", extent.value]
    return shlex.join([*words, *(word for pair in given for word in pair)])
