"""The entry point: errors to standard error with their hints, and the exit codes."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
from collections.abc import Sequence

import typer

from firstlight.cli.app import app
from firstlight.cli.completion import COMPLETE
from firstlight.cli.destination import finish_output, protect_output
from firstlight.cli.envelope import Envelope, begin, end
from firstlight.errors import FirstlightError, is_full, missing_extra
from firstlight.escape import printable

_INTERRUPTED = 130


def main() -> None:
    """Run the command of the process's arguments, and end the process with its exit code."""
    protect_output()
    # Tables become many objects without cycles; by default, the search for some takes a quarter of a long analysis.
    gc.set_threshold(20_000, 20, 100)
    if COMPLETE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    code = run(sys.argv[1:])
    problem = finish_output()
    if problem is not None and code == 0:
        code = _complain(f"standard output: {problem}", "the output is incomplete: write it to another place", 1)
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command; returns its exit code. Nothing that the user may cause ends in a traceback.

    >>> run(["--version"])
    firstlight ...
    0
    """
    if not arguments and COMPLETE not in os.environ:
        # What there is, for one who does not know what to ask for; it is not data.
        with contextlib.redirect_stdout(sys.stderr):
            run(["--help"])
        return 2
    envelope = begin(arguments)
    try:
        return _run(arguments, envelope)
    finally:
        end()


def _run(arguments: Sequence[str], envelope: Envelope) -> int:
    def fail(message: str, hint: str | None, code: int, kind: str = "usage", where: str | None = None) -> int:
        if envelope.wanted:
            envelope.fail(kind, message, hint, code, where)
        return _complain(message if where is None else f"{where}: {message}", hint, code)

    try:
        result = app(args=list(arguments), prog_name="firstlight", standalone_mode=False)
    except FirstlightError as error:
        return fail(error.message, error.hint, error.exit_code, error.code, error.where)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        hint = f"`{context.command_path} --help` lists the commands and options" if context is not None else None
        return fail(_lowered(error.format_message()), hint, 2)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        return fail(str(missing), missing.hint, missing.exit_code, missing.code)
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    except typer.Exit as ending:
        return ending.exit_code
    except SystemExit:
        # Typer's own way to end where the reader of the output has gone away, which is not an error.
        return 0
    except OSError as error:
        place = "the output" if error.filename is None else str(error.filename)
        hint = "free some space where it goes" if is_full(error) else None
        return fail(error.strerror or str(error), hint, 1, "system", place)
    return result if isinstance(result, int) else 0


def _complain(message: str, hint: str | None, code: int) -> int:
    # What a message quotes may come from a hostile boot; its own line breaks are kept.
    for kind, text in (("error", message), ("hint", hint)):
        if text is not None:
            print(f"{kind}: " + "\n  ".join(map(printable, text.splitlines())), file=sys.stderr)
    return code


def _lowered(message: str) -> str:
    """A message of the argument parser in the manner of ours: no capital, no tabs, no full stop, no class of errors.

    >>> _lowered("Missing option '--to'. Choose from:\\n\\tperfetto,\\n\\tcsv")
    "missing option '--to'. Choose from: perfetto, csv"
    """
    message = re.sub(r"\n\t", " ", message.strip()).removesuffix(".").replace(": Value error, ", ": ")
    return message[:1].lower() + message[1:] if message[1:2].islower() else message
