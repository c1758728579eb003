"""A board of a labgrid environment."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import labgrid
from labgrid.config import Config
from labgrid.exceptions import InvalidConfigError, NoConfigFoundError
from labgrid.resource.common import ResourceManager
from labgrid.resource.remote import RemotePlaceManager

from firstlight._core import Pattern
from firstlight.cache import digest_of
from firstlight.errors import MISSING_INPUT, FirstlightError, LabError, UsageError
from firstlight.lab.board.board import Arm
from firstlight.lab.board.labgrid_drivers import BootTimingStrategy, StampedSerialDriver
from firstlight.lab.capture.power import Calls, run_command
from firstlight.lab.capture.self_test import StampError, stamp_error
from firstlight.lab.capture.session import CaptureOutcome, Console, SessionOptions, capture_from
from firstlight.recipe.own_marks import checked_marks, checked_pattern
from firstlight.schema.marks import Mark

_POWER_S = 60.0
_DEPLOY_S = 600.0
#: Closing waits for so many times the timeout of the relay.
_LATE_CALLS = 4


class LabgridBoard:
    """The target `main` of a labgrid environment with a `BootTimingStrategy` and a `StampedSerialDriver`.

    :raises UsageError: when the file is missing or is no such environment.
    :raises LabError: when labgrid cannot make the target, such as one that somebody else has acquired.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._folder = path.absolute().parent
        self._calls = Calls()
        try:
            self._environment = _environment(path)
            self._target = self._environment.get_target("main")
            if self._target is None:
                raise UsageError("the environment has no target `main`", where=self.name)
            self._strategy: Any = self._target.get_driver(BootTimingStrategy, activate=False)
        except FirstlightError:
            raise
        except NoConfigFoundError as error:
            raise UsageError("no such file", where=self.name, exit_code=MISSING_INPUT) from error
        except InvalidConfigError as error:
            cause = error.__cause__
            # labgrid names the driver, and the cause what is wrong with it.
            if isinstance(cause, TypeError | ValueError) and cause.args:
                raise UsageError(f"the options of a driver are wrong: {cause.args[0]}", where=self.name) from error
            raise UsageError(f"this is not a labgrid environment: {error}", where=self.name) from error
        # labgrid and the drivers of a lab raise whatever they like.
        except (Exception, SystemExit) as error:
            raise LabError(f"labgrid: {_said(error)}", where=self.name, hint=_hint(error)) from error
        strategy = self._strategy
        if not isinstance(strategy.console, StampedSerialDriver):
            message = f"the console is a `{type(strategy.console).__name__}`, which does not stamp bytes"
            raise UsageError(message, where=self.name, hint="use `StampedSerialDriver`")
        said = self._environment.config.data
        self.digest = digest_of(json.dumps(said, sort_keys=True, default=str))
        own = {str(name): str(text) for name, text in strategy.marks.items()}
        key = "ready"
        try:
            checked_pattern(strategy.ready)
            key = "marks"
            checked_marks(own)
        except ValueError as error:
            raise UsageError(f"`{key}`: {error}", where=self.name) from error
        self.marks = ((str(Mark.READY), strategy.ready), *own.items())
        self._ready = Pattern(strategy.ready)
        kind = type(strategy)
        self.can_deploy = strategy.deploy_command is not None or kind.deploy is not BootTimingStrategy.deploy
        self.can_append = self.can_deploy or strategy.loader is not None or kind.load is not BootTimingStrategy.load
        self._error: StampError | None = None

    def deploy(self, arm: Arm) -> None:
        """Run the strategy's `deploy` and its command.

        :raises LabError: with what the strategy raised.
        """
        strategy = self._strategy
        strategy.append = arm.append
        if not self.can_deploy:
            return
        self._guarded("off", lambda: strategy.transition("off"), strategy.power_timeout + strategy.off_s)
        self._guarded("deploy", lambda: strategy.deploy(arm.environment()), _DEPLOY_S)
        if strategy.deploy_command is not None:
            command, environment = arm.deployed_by(strategy.deploy_command, self._folder)
            run_command(command, _DEPLOY_S, "deploy command", "the arm is in its environment", environment)

    def capture(self, path: Path, about: Mapping[str, object]) -> CaptureOutcome:
        """Capture a boot.

        :raises LabError: when the console, the relay or the strategy fails, or nothing was printed.
        """
        strategy = self._strategy
        if self._error is None:
            baud = getattr(strategy.console.port, "speed", 115200)
            self._error = stamp_error(baud, quick=True, awake=strategy.awake)
        self._guarded("console", lambda: self._target.activate(strategy.console), _POWER_S)
        try:
            source, reader = strategy.console.opened()
            self._target.activate(strategy.power)
            options = SessionOptions(
                ready=self._ready,
                timeout_s=strategy.timeout,
                switch_on=self._calls.switch(strategy.power.on, "the relay"),
                switch_off=self._calls.switch(strategy.power.off, "the relay"),
                off_s=strategy.off_s,
                power_s=strategy.power_timeout,
                attempts=strategy.attempts,
                loader=self._load,
                awake=strategy.awake,
            )
            return capture_from(source, reader, options, path, self._error, about)
        finally:
            strategy.console.attach(None)
            with suppress(Exception):
                self._target.deactivate(strategy.console)

    def close(self) -> None:
        """Switch the board off, and let go of what labgrid holds."""
        strategy = self._strategy
        with suppress(Exception):
            # A power-on that was given up may still come.
            limit_s = _LATE_CALLS * strategy.power_timeout + strategy.off_s
            self._calls.switch(lambda: strategy.transition("off"), "the relay")(limit_s)
        with suppress(Exception):
            self._environment.cleanup()
        _end_session()

    def _load(self, console: Console) -> None:
        strategy = self._strategy
        strategy.console.attach(console)
        try:
            strategy.load()
        except FirstlightError:
            raise
        except (Exception, SystemExit) as error:
            raise LabError(f"the strategy failed at the boot loader: {_said(error)}", where=self.name) from error
        finally:
            strategy.console.attach(None)

    def _guarded(self, what: str, call: Callable[[], object], limit_s: float) -> None:
        """Call what a lab wrote."""
        try:
            self._calls.switch(call, f"the strategy's `{what}`")(limit_s)
        except LabError as error:
            hint = "check the strategy in the environment file; run `labgrid-client` by hand"
            raise LabError(error.message, where=self.name, hint=hint) from error


#: What the modules of an environment register stays for as long as the process lives: each is loaded once.
_LOADED: dict[Path, labgrid.Environment] = {}


def _environment(path: Path) -> labgrid.Environment:
    _end_session()
    known = _LOADED.get(path.absolute())
    if known is None:
        known = _LOADED[path.absolute()] = labgrid.Environment(str(path))
    else:
        known.config = Config(str(path))
        known.targets.clear()
    return known


def _end_session() -> None:
    """Leave the coordinator of remote places.

    labgrid keeps the first one for as long as the process lives, with the places as they were when it last listened.
    """
    manager = ResourceManager.instances.pop(RemotePlaceManager, None)
    if manager is None or manager.session is None:
        return
    with suppress(Exception):
        manager.loop.run_until_complete(manager.session.stop())
        manager.loop.run_until_complete(manager.session.close())


def _hint(error: BaseException) -> str:
    """What to do when labgrid cannot make the target."""
    said = str(error)
    if "acquired by" in said or "acquired on" in said:
        return "`labgrid-client who` shows who has each place"
    if "not acquired" in said:
        return "acquire the place with `labgrid-client -p PLACE acquire`"
    if "event loop" in said:
        return (
            "labgrid cannot ask a coordinator from within an event loop (a notebook): use `firstlight record --board`"
        )
    if "coordinator" in said:
        return "start the coordinator, or name it in `LG_COORDINATOR` or the option `coordinator_address`"
    if "matches nothing" in said:
        return "`labgrid-client places` lists the places of the coordinator"
    return "the target needs a console (`StampedSerialDriver`), power, and a `BootTimingStrategy`"


def _said(error: BaseException) -> str:
    """An error of a library in a line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
