"""A board file of Firstlight: a console, commands for the power, hooks. It needs no other software."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from firstlight._core import Pattern
from firstlight.cache import digest_of
from firstlight.errors import FirstlightError, LabError
from firstlight.frozen import StrictModel
from firstlight.lab.board.board import Arm
from firstlight.lab.board.loader import Loader
from firstlight.lab.capture.power import Switch, command_switch, run_command
from firstlight.lab.capture.self_test import StampError, stamp_error
from firstlight.lab.capture.session import CaptureOutcome, Console, SessionOptions, capture_from
from firstlight.lab.capture.source import open_source
from firstlight.recipe.own_marks import checked_marks, checked_pattern
from firstlight.schema.marks import Mark
from firstlight.toml import read_toml


class BoardFile(StrictModel):
    """What a board file says."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True)

    console: str = Field(min_length=1, description="a serial port, `tcp://HOST:PORT` or `rfc2217://HOST:PORT`")
    baud: int = Field(default=115200, ge=50, description="rate of the serial port, in bits per second")
    power_on: str = Field(min_length=1, description="shell command that switches the power on")
    power_off: str | None = Field(default=None, description="shell command that switches it off")
    off_seconds: float = Field(default=3.0, ge=0, le=3600, strict=False, description="seconds that the power stays off")
    power_timeout: float = Field(
        default=30.0, gt=0, allow_inf_nan=False, strict=False, description="seconds that such a command may take"
    )
    ready: Annotated[str, AfterValidator(checked_pattern)] = Field(
        description="pattern of the line at which the boot ends"
    )
    timeout: float = Field(
        default=120.0, gt=0, allow_inf_nan=False, strict=False, description="seconds until a power cycle is given up"
    )
    awake: bool = Field(
        default=False, description="keep the processors of this machine awake, for more exact time stamps"
    )
    attempts: int = Field(default=3, ge=1, le=20, description="power cycles until a boot is given up")
    deploy: str | None = Field(default=None, description="shell command that makes the next boots those of an arm")
    deploy_timeout: float = Field(
        default=600.0, gt=0, allow_inf_nan=False, strict=False, description="seconds that it may take"
    )
    loader: Loader | None = Field(default=None, description="the dialogue with the boot loader")
    marks: Annotated[dict[str, str], AfterValidator(checked_marks)] = Field(
        default_factory=dict, description="further marks: name and pattern"
    )


class PlainBoard:
    """The board of a board file."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._file = read_toml(path, BoardFile)
        self._folder = path.absolute().parent
        self.digest = digest_of(json.dumps(self._file.model_dump(), sort_keys=True))
        self.marks = ((str(Mark.READY), self._file.ready), *self._file.marks.items())
        self._ready = Pattern(self._file.ready)
        self.can_deploy = self._file.deploy is not None
        self.can_append = self.can_deploy or self._file.loader is not None
        self._append = ""
        self._error: StampError | None = None

    def deploy(self, arm: Arm) -> None:
        """Run the deploy command; without one, the words are typed at the boot loader's prompt.

        :raises LabError: when the command fails or does not end.
        """
        if self._file.deploy is not None:
            # The board must not run while its storage is written.
            self._off()(self._file.power_timeout)
            hint = "the command has the arm in `FIRSTLIGHT_ARM`, `FIRSTLIGHT_APPEND`, `FIRSTLIGHT_KERNEL`, …"
            command, environment = arm.deployed_by(self._file.deploy, self._folder)
            try:
                run_command(command, self._file.deploy_timeout, "deploy command", hint, environment)
            except LabError as error:
                raise LabError(error.message, where=self._file.deploy, hint=error.hint) from error
        self._append = arm.append

    def capture(self, path: Path, about: Mapping[str, object]) -> CaptureOutcome:
        """Capture a boot.

        :raises LabError: when the console or the relay fails, or nothing was printed.
        """
        file = self._file
        if self._error is None:
            self._error = stamp_error(file.baud, quick=True, awake=file.awake)
        source = open_source(file.console, (), file.baud, writing=file.loader is not None)
        try:
            options = SessionOptions(
                ready=self._ready,
                timeout_s=file.timeout,
                switch_on=command_switch(file.power_on),
                switch_off=None if file.power_off is None else self._off(),
                off_s=file.off_seconds,
                power_s=file.power_timeout,
                attempts=file.attempts,
                awake=file.awake,
                loader=None if file.loader is None else self._talk,
            )
            return capture_from(source, source.reader(), options, path, self._error, about)
        finally:
            source.close()

    def close(self) -> None:
        """Switch the board off."""
        try:
            self._off()(self._file.power_timeout)
        except FirstlightError:
            return

    def _off(self) -> Switch:
        return command_switch(self._file.power_off or "true")

    def _talk(self, console: Console) -> None:
        if self._file.loader is not None:
            self._file.loader.talk(console, self._append)
