"""Captures over a network: raw TCP, and RFC 2217 against pyserial's server."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

import firstlight
from firstlight.errors import FirstlightError
from firstlight.lab.capture.source import open_source
from firstlight.lab.capture.telnet import COM_PORT, DO, IAC, SB, SE, WILL, Telnet, escaped, opening
from port_servers import served

CONSOLE = (
    b"U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)\r\n"
    b"[    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP\r\n"
    b"[    0.500000] name: \xc3\xbf \xff\xff\xfd\x2c odd bytes\r\n"
    b"[    0.700000] Run /sbin/init as init process\r\n"
    b"box login: "
)


def captured_bytes(bundle: Path) -> bytes:
    """The console's bytes in a capture, without the records around them."""
    (path,) = (bundle / "raw").glob("*.capture.bin")
    content, out, at = path.read_bytes(), b"", 0
    at = content.index(b"\n") + 1
    while at < len(content):
        end = content.index(b"\n", at)
        kind, _, size = content[at:end].split()
        if kind == b"data":
            out += content[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return out


@pytest.mark.parametrize("telnet", [False, True], ids=["tcp", "rfc2217"])
@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_a_console_on_a_network_is_captured_byte_for_byte(telnet: bool, piece: int, tmp_path: Path) -> None:
    if telnet:
        pytest.importorskip("serial.rfc2217")
    with served(CONSOLE, telnet=telnet, piece=piece) as server:
        captured = firstlight.capture(
            server.name, output=tmp_path / "a.boot", ready="login: ", baud=57600, timeout_s=20
        )
    assert captured.outcome.ended == "ready"
    assert captured_bytes(tmp_path / "a.boot") == CONSOLE
    marks = firstlight.open(tmp_path / "a.boot").marks()["mark"].to_list()
    assert marks[-1] == "ready"
    assert "kernel_start" in marks
    if telnet:
        # The server set its port as the client asked, and was sent no byte beside commands.
        assert (server.port.baudrate, server.port.bytesize, server.port.parity, server.port.stopbits) == (
            57600,
            8,
            "N",
            1,
        )
        assert server.typed == b""


def test_what_is_typed_reaches_the_port_behind_rfc_2217() -> None:
    pytest.importorskip("serial.rfc2217")
    with served(b"", telnet=True) as server:
        source = open_source(server.name, (), 115200, writing=True)
        reader = source.reader()
        reader.start()
        source.write(b"printenv \xff\r")
        for _ in range(200):
            if server.typed:
                break
            time.sleep(0.05)
        reader.stop()
        source.close()
    assert server.typed == b"printenv \xff\r"


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="cannot connect"):
        firstlight.capture("rfc2217://127.0.0.1:1", output=tmp_path / "a.boot")
    with pytest.raises(FirstlightError, match="no host and port"):
        firstlight.capture("rfc2217://127.0.0.1", output=tmp_path / "a.boot")


class TestTheTelnetStream:
    def test_any_bytes_come_through_however_they_are_cut(self) -> None:
        dice = random.Random(7)
        for _ in range(200):
            content = bytes(dice.choices((255, 255, 240, 250, 0, 65), k=60))
            stream = b""
            for at in range(0, len(content), 10):
                value = escaped(bytes(dice.choices((255, 1, 240), k=4)))
                stream += escaped(content[at : at + 10]) + bytes((IAC, SB, COM_PORT, 101)) + value + bytes((IAC, SE))
                stream += bytes((IAC, 241))
            telnet, out = Telnet(lambda answer: None), b""
            while stream:
                cut = dice.randint(1, 9)
                out, stream = out + telnet.decode(stream[:cut]), stream[cut:]
            assert out == content

    def test_a_command_without_an_end_is_left_out_and_nothing_waits_for_it_forever(self) -> None:
        telnet = Telnet(lambda answer: None)
        stream = bytes((IAC, SB, COM_PORT)) + b"x" * 10_000
        assert telnet.decode(stream).endswith(b"x" * 5000)

    def test_an_answer_that_was_asked_for_needs_none(self) -> None:
        sent: list[bytes] = []
        telnet = Telnet(sent.append)
        for _ in range(3):
            telnet.decode(bytes((IAC, DO, COM_PORT, IAC, WILL, 0, IAC, WILL, 1, IAC, DO, 31)))
        assert sent == [bytes((IAC, DO, 1)), bytes((IAC, 252, 31))]

    def test_the_rate_is_escaped(self) -> None:
        assert bytes((IAC, SB, COM_PORT, 1, 0, 0, 255, 255, 0, IAC, SE)) in opening(65280)
