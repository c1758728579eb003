"""What Firstlight adds to labgrid: a console that is stamped when its bytes arrive, and a strategy that boots once.

Both work in every environment of labgrid: `imports: [firstlight.lab.board.labgrid_drivers]` makes them known to it.
"""

from __future__ import annotations

import enum
import time
from typing import TYPE_CHECKING, Any, ClassVar

import attr
import pexpect
from labgrid import target_factory
from labgrid.driver.common import Driver
from labgrid.driver.consoleexpectmixin import ConsoleExpectMixin
from labgrid.protocol import ConsoleProtocol
from labgrid.resource import SerialPort
from labgrid.step import step
from labgrid.strategy import Strategy, StrategyError
from labgrid.util.proxy import proxymanager

from firstlight.errors import LabError
from firstlight.lab.board.loader import Loader
from firstlight.lab.capture.reader import StampingReader
from firstlight.lab.capture.source import Source, open_source

if TYPE_CHECKING:
    from firstlight.lab.capture.session import Console

_LOOK_S = 0.1
_POSITIVE: Any = [attr.validators.gt(0), attr.validators.lt(float("inf"))]


@target_factory.reg_driver
@attr.s(eq=False)
class StampedSerialDriver(ConsoleExpectMixin, Driver, ConsoleProtocol):  # type: ignore[misc]
    """labgrid's `SerialDriver`, whose bytes a thread with real-time priority reads and stamps at once.

    While Firstlight captures a boot, whoever waits for a text on the console reads it from the capture.
    """

    bindings: ClassVar = {"port": {"SerialPort", "NetworkSerialPort"}}

    txdelay: float = attr.ib(default=0.0, converter=float)
    txchunk: int = attr.ib(default=1, validator=attr.validators.instance_of(int))
    timeout: float = attr.ib(default=3.0, converter=float)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self._source: Source | None = None
        self._reader: StampingReader | None = None
        self._capture: Console | None = None
        self._left = b""

    def on_activate(self) -> None:
        """Open the port."""
        self._left = b""
        if isinstance(self.port, SerialPort):
            self._source = open_source(self.port.port, (), self.port.speed, writing=True)
        else:
            host, port = proxymanager.get_host_and_port(self.port)
            scheme = "tcp" if self.port.protocol == "raw" else "rfc2217"
            self._source = open_source(f"{scheme}://{host}:{port}", (), self.port.speed)
        self._reader = self._source.reader()

    def on_deactivate(self) -> None:
        """Close the port."""
        if self._reader is not None:
            self._reader.stop()
        if self._source is not None:
            self._source.close()
        self._source = self._reader = None

    @Driver.check_active  # type: ignore[untyped-decorator]
    def opened(self) -> tuple[Source, StampingReader]:
        """The open console and its reader, for a capture."""
        assert self._source is not None
        assert self._reader is not None
        return self._source, self._reader

    def attach(self, capture: Console | None) -> None:
        """Read from a capture from now on; without one, from the port."""
        self._capture, self._left = capture, b""
        # What an earlier boot printed is not an answer of this one.
        self._expect.buffer = b""

    def _read(self, size: int = 1, timeout: float = 0.0, max_size: int | None = None) -> bytes:
        end = time.monotonic() + timeout
        while not self._left:
            wait = max(0.0, min(end - time.monotonic(), _LOOK_S))
            self._left = self._take(wait)
            if not self._left and time.monotonic() >= end:
                raise pexpect.TIMEOUT(f"nothing was printed for {timeout:.2f} s")
        taken = self._left[: max_size or len(self._left)]
        self._left = self._left[len(taken) :]
        return taken

    def _take(self, seconds: float) -> bytes:
        if self._capture is not None:
            return self._capture.take(seconds)
        assert self._reader is not None
        self._reader.start()
        chunk = self._reader.next_chunk(seconds)
        return b"" if chunk is None else chunk[1]

    def _write(self, data: bytes) -> int:
        assert self._source is not None
        self._source.write(data)
        return len(data)


class Status(enum.Enum):
    """What a board can be brought to."""

    unknown = 0
    off = 1
    on = 2
    ready = 3


@target_factory.reg_driver
@attr.s(eq=False)
class BootTimingStrategy(Strategy):  # type: ignore[misc]
    """Boots a board once: off, console, on, the boot loader, ready.

    A lab derives its own from it: `deploy` brings other software onto the board, and `load` talks to the boot loader.
    Whatever they raise ends one boot and not the session.
    """

    bindings: ClassVar = {"power": "PowerProtocol", "console": "ConsoleProtocol"}

    ready: str = attr.ib(validator=attr.validators.instance_of(str))
    timeout: float = attr.ib(default=120.0, converter=float, validator=_POSITIVE)
    off_s: float = attr.ib(default=3.0, converter=float, validator=[attr.validators.ge(0), attr.validators.le(3600)])
    power_timeout: float = attr.ib(default=30.0, converter=float, validator=_POSITIVE)
    attempts: int = attr.ib(default=3, validator=[attr.validators.instance_of(int), attr.validators.ge(1)])
    awake: bool = attr.ib(default=False, validator=attr.validators.instance_of(bool))
    marks: dict[str, str] = attr.ib(factory=dict, validator=attr.validators.instance_of(dict))
    deploy_command: str | None = attr.ib(default=None)
    loader: dict[str, Any] | None = attr.ib(default=None)
    status: Status = attr.ib(default=Status.unknown)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.append = ""

    @step(args=["status"])  # type: ignore[untyped-decorator]
    def transition(self, status: Status | str) -> None:
        """Bring the board to a state."""
        wanted = Status[status] if isinstance(status, str) else status
        if wanted is Status.off:
            self.target.activate(self.power)
            self.power.off()
            time.sleep(self.off_s)
        elif wanted is Status.on:
            self.target.activate(self.power)
            self.target.activate(self.console)
            self.power.on()
        elif wanted is Status.ready:
            self.transition(Status.off)
            self.transition(Status.on)
            self.load()
            self.console.expect(self.ready, timeout=self.timeout)
        else:
            raise StrategyError(f"no transition to {wanted}")
        self.status = wanted

    def deploy(self, arm: dict[str, str]) -> None:
        """Make the next boots those of an arm; a derived strategy overrides it.

        :param arm: the variables that the command of a board file has, such as `FIRSTLIGHT_KERNEL`.
        """

    def load(self) -> None:
        """Talk to the boot loader after power-on; a derived strategy overrides it."""
        if self.loader is not None and self.append:
            Loader.model_validate(self.loader).talk(_Typed(self.console), self.append)


class _Typed:
    """A console of labgrid for the dialogue with a boot loader."""

    def __init__(self, console: Any) -> None:
        self._console = console

    def expect(self, pattern: str, timeout_s: float) -> bytes:
        try:
            _, _, match, _ = self._console.expect(pattern, timeout=timeout_s)
        except pexpect.TIMEOUT:
            raise LabError(f"the console did not print `{pattern}` within {timeout_s:g} s") from None
        return bytes(match[0])

    def send(self, content: bytes) -> None:
        self._console.write(content)
