"""A serial port behind RFC 2217: the telnet stream of its server, and the settings of the port.

Console servers (ser2net, labgrid's exporter) offer ports this way. The stream has commands between the bytes of the
console, and each byte 255 of the console twice (RFC 854). The client asks for transparent transmission (RFC 856), in
which nothing else is changed, and sets the rate of the port (RFC 2217).
"""

from __future__ import annotations

from collections.abc import Callable

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
BINARY, ECHO, NO_GO_AHEAD, COM_PORT = 0, 1, 3, 44
_SET_RATE, _SET_SIZE, _SET_PARITY, _SET_STOP, _SET_CONTROL = 1, 2, 3, 4, 5
#: What this side does, and what it lets the other side do.
_OURS = frozenset({BINARY, NO_GO_AHEAD, COM_PORT})
_THEIRS = frozenset({BINARY, ECHO, NO_GO_AHEAD, COM_PORT})
_LONGEST_COMMAND = 4096


def escaped(content: bytes) -> bytes:
    r"""Bytes of a console as the stream has them.

    >>> escaped(b"a\xffb")
    b'a\xff\xffb'
    """
    return content.replace(b"\xff", b"\xff\xff")


def opening(baud: int) -> bytes:
    """What a client sends first: transparent transmission, and a port of 8 bits, no parity and one stop bit.

    :param baud: the rate of the port, in bits per second.

    >>> opening(115200)[:6].hex(" ")
    'ff fb 2c ff fb 00'
    """
    words = b"".join(
        bytes((IAC, verb, option))
        for verb, option in ((WILL, COM_PORT), (WILL, BINARY), (DO, BINARY), (WILL, NO_GO_AHEAD), (DO, NO_GO_AHEAD))
    )
    settings = ((_SET_RATE, baud.to_bytes(4, "big")), (_SET_SIZE, b"\x08"), (_SET_PARITY, b"\x01"),
                (_SET_STOP, b"\x01"), (_SET_CONTROL, b"\x01"))  # fmt: skip
    for setting, value in settings:
        words += bytes((IAC, SB, COM_PORT, setting)) + escaped(value) + bytes((IAC, SE))
    return words


class Telnet:
    r"""Takes the console's bytes out of a stream, and answers what the server asks.

    >>> sent = []
    >>> telnet = Telnet(sent.append)
    >>> telnet.decode(b"Linux \xff\xfd\x18\xff\xff ver\xff"), telnet.decode(b"\xfb\x03sion")
    (b'Linux \xff ver', b'sion')
    >>> [answer.hex(" ") for answer in sent]
    ['ff fc 18']
    """

    def __init__(self, send: Callable[[bytes], object]) -> None:
        self._send = send
        self._rest = b""
        # What `opening` has asked for is agreed on by the first answer, which needs none.
        self._agreed = {(WILL, BINARY), (WILL, NO_GO_AHEAD), (DO, COM_PORT), (DO, BINARY), (DO, NO_GO_AHEAD)}

    def decode(self, content: bytes) -> bytes:
        """The bytes of the console in a piece of the stream; a command may be in two pieces."""
        stream, self._rest = self._rest + content, b""
        out = bytearray()
        at = 0
        while (sign := stream.find(IAC, at)) >= 0:
            out += stream[at:sign]
            length = self._command(stream[sign : sign + _LONGEST_COMMAND])
            if length == 0:
                self._rest = stream[sign:]
                return bytes(out)
            if stream[sign + 1] == IAC:
                out.append(IAC)
            at = sign + length
        return bytes(out + stream[at:])

    def _command(self, stream: bytes) -> int:
        """Read one command; its length, 0 where its end is still to come."""
        if len(stream) < 2:
            return 0
        verb = stream[1]
        if verb in (WILL, WONT, DO, DONT):
            if len(stream) < 3:
                return 0
            self._negotiate(verb, stream[2])
            return 3
        if verb != SB:
            return 2
        end = stream.find(bytes((IAC, SE)), 2)
        while end > 0 and (end - len(stream[:end].rstrip(b"\xff"))) % 2:
            # An escaped 255 in front of the end.
            end = stream.find(bytes((IAC, SE)), end + 1)
        if end < 0:
            # A command without an end is not a command: its head is left out.
            return 2 if len(stream) >= _LONGEST_COMMAND else 0
        return end + 2

    def _negotiate(self, verb: int, option: int) -> None:
        if (verb, option) in self._agreed or verb in (WONT, DONT):
            return
        self._agreed.add((verb, option))
        yes, no, wanted = (DO, DONT, _THEIRS) if verb == WILL else (WILL, WONT, _OURS)
        answer = yes if option in wanted else no
        self._send(bytes((IAC, answer, option)))
