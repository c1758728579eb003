"""Switching the power of a board: by a command, or by a call that may never return."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from firstlight.errors import LabError

_MOST_SAID = 1 << 16

Switch = Callable[[float], None]
"""Switches the power within so many seconds; raises `LabError`."""


def command_switch(command: str) -> Switch:
    """A switch that runs a shell command.

    >>> command_switch("true")(5.0)
    >>> command_switch("echo no relay >&2; exit 3")(5.0)
    Traceback (most recent call last):
    firstlight.errors.LabError: echo no relay >&2; exit 3: the power command failed with exit code 3: no relay
    """
    return lambda limit_s: run_command(command, limit_s, "power command", "check that the relay answers")


def run_command(
    command: str, limit_s: float, what: str, hint: str, environment: Mapping[str, str] | None = None
) -> None:
    """Run a shell command of a lab.

    :param limit_s: how long it may take, in seconds.
    :param what: the command's role, for messages.
    :param hint: what to do when it does not end.
    :param environment: added to the environment.
    :raises LabError: when it fails or does not end.
    """
    # A file instead of a pipe: programs that the command leaves running do not hold it open.
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
            env=None if environment is None else {**os.environ, **environment},
        )
        try:
            process.wait(limit_s)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                message = f"the {what} did not end within {limit_s:g} s"
                raise LabError(message, where=command, hint=hint) from None
            raise
        if process.returncode != 0:
            said.seek(0)
            last = said.read(_MOST_SAID).decode(errors="replace").strip().splitlines()[-1:]
            message = ": ".join([f"the {what} failed with exit code {process.returncode}", *last])
            raise LabError(message, where=command, hint=f"run it by hand; {hint}")


class Calls:
    """Calls of a library that may never return, one after another, each in a thread of its own.

    A call that was given up goes on. The next one waits for its end, so that a late power-on does not come after a
    power-off. A call that was given up before it began is not made.
    """

    def __init__(self) -> None:
        self._one_by_one = threading.Lock()

    def switch(self, call: Callable[[], object], what: str) -> Switch:
        """A switch that calls a function.

        :param what: what it does, for messages.

        >>> Calls().switch(lambda: None, "the relay")(5.0)
        >>> Calls().switch(lambda: 1 / 0, "the relay")(5.0)
        Traceback (most recent call last):
        firstlight.errors.LabError: the relay failed: ZeroDivisionError: division by zero
        """

        def switch(limit_s: float) -> None:
            failed: list[BaseException] = []
            given_up, began = threading.Event(), threading.Event()

            def run() -> None:
                with self._one_by_one:
                    if given_up.is_set():
                        return
                    began.set()
                    try:
                        call()
                    except BaseException as error:
                        failed.append(error)

            thread = threading.Thread(target=run, name="power", daemon=True)
            thread.start()
            thread.join(limit_s)
            if thread.is_alive():
                given_up.set()
                late = "" if began.is_set() else ": an earlier call has not ended"
                message = f"{what} did not answer within {limit_s:g} s{late}"
                raise LabError(message, hint="check that the relay answers")
            if failed:
                error = failed[0]
                raise LabError(f"{what} failed: {type(error).__name__}: {error}", hint="check the relay") from error

        return switch
