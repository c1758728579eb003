"""What of an imported log the console cost, and what never went through it."""

from __future__ import annotations

import json
from pathlib import Path

from firstlight.analysis.console_cost import console_cost
from imported_records import imported

LINES = ((0, "Linux version 6.1.0 (a@b) (gcc) #1 SMP"), (0, "Command line: console=ttyS0,115200"), (1, "gizmo: bound"))
DMESG = "".join(f"[{at:5d}.000000] {text}\n" for at, text in LINES)


def test_what_a_program_told_the_journal_was_not_printed(tmp_path: Path) -> None:
    def entry(transport: str, at_us: int, text: str) -> str:
        own = {"_SOURCE_MONOTONIC_TIMESTAMP": str(at_us)} if transport == "kernel" else {"SYSLOG_IDENTIFIER": "mail"}
        stamps = {"__REALTIME_TIMESTAMP": str(10**15 + at_us), "__MONOTONIC_TIMESTAMP": str(at_us)}
        return json.dumps(stamps | own | {"_TRANSPORT": transport, "MESSAGE": text, "PRIORITY": "6"}) + "\n"

    kernel = "".join(entry("kernel", at * 10**6, text) for at, text in LINES)
    chatty = "".join(entry("syslog", 2 * 10**6 + number, f"message {number}") for number in range(100))
    alone = console_cost(imported(tmp_path, {"dmesg.txt": DMESG}))
    assert (alone.lines, alone.characters) == (3, sum(15 + len(text) + 2 for _, text in LINES))
    for records in ({"journal.json": kernel + chatty}, {"dmesg.txt": DMESG, "journal.json": kernel + chatty}):
        cost = console_cost(imported(tmp_path, records))
        assert (cost.lines, cost.characters) == (alone.lines, alone.characters)


def test_a_capture_is_counted_byte_by_byte_with_who_called(tmp_path: Path) -> None:
    text = "".join(f"[{at:5d}.000000][    T1] {line}\r\n" for at, line in LINES)
    (tmp_path / "console.log").write_bytes(text.encode())
    cost = console_cost(imported(tmp_path, {"console.log": text}))
    assert cost.characters == len(text)


def test_a_boot_loader_is_not_counted_and_a_prompt_without_a_stamp(tmp_path: Path) -> None:
    console = [(0.1, "U-Boot 2024.01 (Jan 01 2024)"), (1.0, "Starting kernel ...")]
    console += [(2.0 + at, f"[{at:5d}.000000] {text}") for at, text in LINES]
    console += [(4.0, "box login: ")]
    boot = imported(tmp_path, {"console.log": "".join(f"[{at:.6f} 0.000001] {text}\n" for at, text in console)})
    kernel, login = [15 + len(text) + 2 for _, text in LINES], len("box login: ") + 2
    assert sorted(console_cost(boot).costly["characters"]) == sorted([*kernel, login])
