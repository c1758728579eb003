"""`firstlight ask`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Csv, ForceFile, Json, Limit, Trust, check_form, print_notes, shown_limit


def ask(
    boot: Bundle,
    question: Annotated[
        str, typer.Argument(metavar="FUNCTION(VALUE, …)", help="The kernel function and the parameters to record.")
    ],
    results: Annotated[
        bool, typer.Option("--return", help="Record the return value of the function, and its time.")
    ] = False,
    when: Annotated[
        str | None, typer.Option(metavar="CONDITION", help='Show only calls that match: `comm == "sh" and result < 0`.')
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Store the calls as .csv, .json or .parquet."),
    ] = None,
    force: ForceFile = False,
    trust: Trust = False,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Boot a recipe again and record the arguments of a kernel function at each of its calls.

    The names and types of the parameters are those of the kernel (BTF). `->MEMBER` follows a pointer, `:string` reads
    text, `:u32` a number. Nothing in the guest changes: the console, the report and the instructions are checked to be
    those of the boot.

    \b
    Examples:
      firstlight ask a.boot 'do_sys_openat2(dfd, filename:string, how->flags)' --return
      firstlight ask a.boot 'do_sys_openat2(filename:string)' --when 'comm == "udevadm"' -n 20
      firstlight ask a.boot 'vfs_read(file->f_path.dentry->d_name.name:string, count)' -o reads.parquet
    """
    from firstlight.render.answers_file import check_answers_file, write_answers
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.answers import answers_data, answers_report

    check_form(csv, json)
    if output is not None:
        check_answers_file(output, force=force)
    answers = api.ask(boot, question, results=results, when=when, trust=trust, progress=True)
    if output is not None:
        write_answers(answers.rows, output)
    if csv:
        sys.stdout.write(answers.rows.write_csv())
    elif json:
        print_json({"boot": str(boot), **answers_data(answers, limit)})
    else:
        print_report(answers_report(api.open(boot), answers, shown_limit(limit)))
    print_notes(answers.differences)
    raise typer.Exit(0 if answers.unaffected else 1)
