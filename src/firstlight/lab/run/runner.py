"""One run of QEMU, watched until the boot has ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from firstlight.lab.host.plugin_status import Status, read_status
from firstlight.lab.host.process import Ended, Process
from firstlight.lab.host.progress import Snapshot
from firstlight.lab.qemu.command_line import RunFiles
from firstlight.lab.qemu.confinement import Launch
from firstlight.lab.qemu.console import Console, last_lines, panic_line
from firstlight.lab.qemu.emulator import explain_rejection
from firstlight.quantities import time_text
from firstlight.schema.records import FailureReason

_POLL_S = 0.05
_STATUS_EVERY_S = 0.2
_REPORT_END = b"\nend 0\n"
AFTER_READY_S = 120.0
"""What QEMU may compute for a guest's report: time of the processor, as a loaded machine is no reason to cut it."""
_AFTER_READY_AT_MOST_S = 600.0
"""What a guest may take for it in any case."""
_POWER_OFF_CPU_S = 1.0
"""What QEMU may compute after the guest's report while the guest says nothing: a power-off takes a few milliseconds.
Time of the processor, not of a clock: a loaded machine is no reason to end a guest too early."""
_POWER_OFF_AT_MOST_S = 20.0
QUIET_S = 1.0
"""A panicked guest is left so long after its last console byte, for the lines that follow the panic. Where it computes,
as panicked kernels do, that is time of the processor: a loaded machine is no reason to cut its last lines."""
_IDLE_S = 5.0
"""One that does not compute is left so long."""
QUIET_AT_MOST_S = 15.0
"""One that is never quiet is left so long."""
_LINE_S = 2.0
"""A prompt such as `login: ` never ends its line: a guest is left so long to end it."""
_LINE_CPU_S = 0.25
"""What QEMU has to have computed meanwhile without a byte for the console: a loaded machine is no reason to cut it."""
_LINE_AT_MOST_S = 10.0


@dataclass(frozen=True)
class Watch:
    """What ends a run."""

    timeout_wall_s: float
    profile: bool
    """The plugin is loaded: its status decides."""
    report: bool
    """A helper in the guest reports and powers off."""
    ready_pattern: str | None = None
    """Watched by us when there is no plugin."""


@dataclass(frozen=True)
class RunOutcome:
    """How a boot ended, and what it left."""

    reason: FailureReason | None
    """`None` when it came up, else why the boot failed."""
    detail: str
    console: bytes
    report: bytes
    log: str
    ended: Ended
    wall_s: float
    status: Status | None = None
    ready_offset: int | None = None
    """Bytes of console up to the end of the line that meant ready, where one did."""

    def console_tail(self) -> list[str]:
        """The last lines of the console."""
        return last_lines(self.console)


def run(
    launch: Launch,
    files: RunFiles,
    watch: Watch,
    on_progress: Callable[[Snapshot], None] = lambda snapshot: None,
) -> RunOutcome:
    """Run QEMU until the boot came up, failed or took too long; no process is left, whatever happens.

    A guest without a report is ended when it is ready, at an instant that depends on the host. Its console ends with
    the line that meant ready, so that it is the same each time.

    :raises LabError: when QEMU refused to start at all: there is no boot to speak of.
    :raises KeyboardInterrupt: when the user interrupts; QEMU is gone by then.
    """
    console = Console(files.console, None if watch.profile else watch.ready_pattern)
    with Process(launch.command, files.log, launch.confined) as process:
        reason, detail = _watch(process, console, files, watch, on_progress)
        ended = process.end()
        wall_s = process.running_s
    while console.poll():
        pass
    ready_offset = None
    if reason is None and not watch.report and watch.ready_pattern is not None:
        ready_offset = _cut_behind_ready(files.console, watch.ready_pattern)
    text = _read(files.console)
    log = _read(files.log).decode(errors="replace")
    status = read_status(files.status)
    if reason == FailureReason.QEMU_DIED and not text and ended.exit_code > 0:
        raise explain_rejection(log, launch.command)
    if reason == FailureReason.QEMU_DIED:
        detail = "; ".join([detail, *log.strip().splitlines()[-3:]])
    return RunOutcome(reason, detail, text, _read(files.report), log, ended, wall_s, status, ready_offset)


def _watch(
    process: Process,
    console: Console,
    files: RunFiles,
    watch: Watch,
    on_progress: Callable[[Snapshot], None],
) -> tuple[FailureReason | None, str]:
    """Watch until the verdict is known: reason (`None`: came up) and detail."""
    status: Status | None = None
    status_at = 0.0
    while process.wait(_POLL_S) is None:
        console.poll()
        now = process.running_s
        if now - status_at >= _STATUS_EVERY_S:
            status_at = now
            if watch.profile:
                status = read_status(files.status) or status
            on_progress(Snapshot(now, console.size, status))
        if status is not None and status.final:
            return _verdict(process, console, files, watch, status)
        if not watch.profile:
            if console.ready_line is not None:
                return _come_up(process, console, files, watch)
            if console.panicked:
                _leave_until_quiet(process, console)
                return FailureReason.PANIC, panic_line(_read(files.console))
            if watch.report and watch.ready_pattern is None and _reported(files):
                return _come_up(process, console, files, watch)
        if now > watch.timeout_wall_s:
            stopped = "; QEMU was stopped by a signal" if process.stopped else ""
            return FailureReason.WALL_TIMEOUT, f"not ready after {watch.timeout_wall_s:g} s of the host{stopped}"
    while console.poll():
        pass
    return _after_exit(process.end(), console, files, watch)


def _after_exit(ended: Ended, console: Console, files: RunFiles, watch: Watch) -> tuple[FailureReason | None, str]:
    """The verdict when QEMU ended by itself."""
    status = read_status(files.status) if watch.profile else None
    if ended.exit_code != 0:
        by = f"was ended by {ended.killed_by}" if ended.killed_by else f"ended with exit code {ended.exit_code}"
        if status is not None and status.state in ("ready", "error"):
            return _reason(status)
        return FailureReason.QEMU_DIED, f"QEMU {by}"
    if status is not None and status.state != "stopped":
        return _reason(status)
    if watch.profile and status is None:
        return FailureReason.PLUGIN, "the plugin left no status"
    if console.panicked:
        return FailureReason.PANIC, panic_line(_read(files.console))
    if not watch.profile and (console.ready_line is not None or (watch.ready_pattern is None and _reported(files))):
        return None, ""
    return FailureReason.NEVER_READY, "the guest powered off or rebooted before it was ready"


def _verdict(
    process: Process, console: Console, files: RunFiles, watch: Watch, status: Status
) -> tuple[FailureReason | None, str]:
    """The verdict of a plugin's final state, once the guest had the time that this state needs."""
    if status.state == "ready":
        return _come_up(process, console, files, watch)
    if status.state == "panic":
        _leave_until_quiet(process, console)
        return FailureReason.PANIC, panic_line(_read(files.console)) or status.detail
    if status.state == "stopped":
        ended = process.wait(10.0)
        if ended is not None:
            return _after_exit(ended, console, files, watch)
    if status.state == "timeout":
        _leave_until_line_end(process, console)
    return _reason(status)


def _reason(status: Status) -> tuple[FailureReason | None, str]:
    if status.state == "ready":
        return None, ""
    reasons = {
        "panic": FailureReason.PANIC,
        "timeout": FailureReason.VIRTUAL_TIMEOUT,
        "stopped": FailureReason.NEVER_READY,
        "error": FailureReason.PLUGIN,
    }
    default = {"timeout": f"not ready after {time_text(status.virtual_ns)} of virtual time"}.get(status.state, "")
    reason = reasons.get(status.state, FailureReason.PLUGIN)
    return reason, status.detail or default or f"the plugin ended as `{status.state}`"


def _come_up(process: Process, console: Console, files: RunFiles, watch: Watch) -> tuple[None, str]:
    """Leave a guest that came up the time for its report and its power-off.

    It powers off by itself: ending it before would cut its console at an instant that depends on the host. One that
    cannot (`acpi=off`) halts, and is ended when its kernel says so, or when it has been quiet. One without a report is
    left the time to finish its line, so that this line is the same each time.
    """
    if not watch.report:
        _leave_until_line_end(process, console)
        return None, ""
    used, until = process.cpu_s(), process.running_s + _AFTER_READY_AT_MOST_S
    while process.wait(_POLL_S) is None and process.running_s < until and process.cpu_s() - used < AFTER_READY_S:
        if _reported(files):
            _leave_until_off(process, console)
            break
    return None, ""


def _leave_until_off(process: Process, console: Console) -> None:
    console.poll()
    used, until = process.cpu_s(), process.running_s + _POWER_OFF_AT_MOST_S
    while process.wait(_POLL_S) is None and process.running_s < until and not console.halted:
        if console.poll():
            used = process.cpu_s()
        elif process.cpu_s() - used > _POWER_OFF_CPU_S:
            return


def _leave_until_line_end(process: Process, console: Console) -> None:
    began, used = process.running_s, process.cpu_s()
    while process.wait(_POLL_S) is None:
        passed = process.running_s - began
        if console.poll():
            used = process.cpu_s()
        if console.at_line_end or passed > _LINE_AT_MOST_S:
            return
        if passed > _LINE_S and process.cpu_s() - used > _LINE_CPU_S:
            return


def _cut_behind_ready(path: Path, pattern: str) -> int | None:
    """Leave out of a console what was printed behind the line that meant ready; the bytes that are left."""
    console = Console(path, pattern)
    while console.poll():
        pass
    if console.ready_offset is None:
        return None
    text = _read(path)
    line_end = text.find(b"\n", console.ready_offset)
    end = len(text) if line_end < 0 else line_end + 1
    os.truncate(path, end)
    return end


def _leave_until_quiet(process: Process, console: Console) -> None:
    quiet_since = began = process.running_s
    used = process.cpu_s()
    while process.wait(_POLL_S) is None:
        now = process.running_s
        if console.poll():
            quiet_since, used = now, process.cpu_s()
        if process.cpu_s() - used > QUIET_S or now - quiet_since > _IDLE_S or now - began > QUIET_AT_MOST_S:
            return


def _reported(files: RunFiles) -> bool:
    """Whether the report came to its end."""
    try:
        with files.report.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 64))
            return _REPORT_END in file.read()
    except OSError:
        return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
