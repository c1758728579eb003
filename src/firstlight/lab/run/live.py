"""A boot without instruction counting, by KVM or TCG. All times are arrival times on the host."""

from __future__ import annotations

import os
import re
import select
import time
from dataclasses import dataclass
from pathlib import Path

from firstlight.bundle.manifest import Totals
from firstlight.errors import LabError
from firstlight.lab.host.process import Process
from firstlight.lab.host.progress import Progress, Snapshot
from firstlight.lab.qemu.command_line import RunFiles
from firstlight.lab.qemu.confinement import launch
from firstlight.lab.qemu.console import PANIC, panic_line
from firstlight.lab.qemu.emulator import explain_rejection
from firstlight.lab.qemu.timestamps import Arrivals, Line, named_pipe
from firstlight.lab.run.resolve import Inputs
from firstlight.lab.run.runner import AFTER_READY_S, QUIET_S, RunOutcome
from firstlight.lab.run.tables import Attributed, write_log, write_marks, write_without_rows
from firstlight.recipe.field_types import Accelerator
from firstlight.schema.marks import Mark, MarkSource
from firstlight.schema.records import FailureReason

KVM = Path("/dev/kvm")
_STUCK_S = 20.0
"""A guest on KVM that printed nothing for so long is taken for stuck: it boots in a second or two."""
_POWER_OFF_S = 3.0
"""A guest that was quiet for so long after its report cannot power off."""
_CONSOLE_MARKS = (
    (Mark.KERNEL_START, re.compile(rb"Linux version \d")),
    (Mark.USER_START, re.compile(rb"Run \S+ as init process")),
)


@dataclass(frozen=True)
class LiveBoot:
    """One live boot, its tables written."""

    outcome: RunOutcome
    attributed: Attributed
    accelerator: Accelerator


@dataclass(frozen=True)
class _Pipes(RunFiles):
    """The run's files as QEMU sees them: named pipes for what is stamped on arrival."""

    @property
    def console(self) -> Path:
        """The console's pipe."""
        return self.directory / "console.pipe"

    @property
    def report(self) -> Path:
        """The report's pipe."""
        return self.directory / "report.pipe"


class _StuckError(Exception):
    """The virtual processor makes no progress."""


def boot_live(inputs: Inputs, files: RunFiles, bundle: Path, progress: Progress) -> LiveBoot:
    """Boot once by the host's clock and write all tables but the facts.

    KVM is tried where the device can be opened. Some hosts offer it and then never run the guest (nested
    virtualisation): a guest that does not start, or prints nothing for 20 s, is booted again by TCG, with a note.

    :raises LabError: when QEMU does not start.
    """
    accelerators = [Accelerator.KVM, Accelerator.TCG] if os.access(KVM, os.R_OK | os.W_OK) else [Accelerator.TCG]
    if accelerators == [Accelerator.TCG]:
        progress.note(f"`{KVM}` cannot be used here, so the guest is emulated (TCG)")
    for accelerator in accelerators:
        try:
            return _boot(inputs, files, bundle, progress, accelerator)
        except (_StuckError, LabError) as error:
            if accelerator == accelerators[-1]:
                raise
            progress.note(f"KVM does not work here ({error}), so the guest is emulated (TCG)")
    raise AssertionError("the last accelerator returns or raises")


def _boot(inputs: Inputs, files: RunFiles, bundle: Path, progress: Progress, accelerator: Accelerator) -> LiveBoot:
    pipes = _Pipes(files.directory)
    origin = time.monotonic_ns()
    with (
        named_pipe(pipes.console, files.console, origin) as console,
        named_pipe(pipes.report, files.report, origin) as report,
    ):
        recipe = inputs.recipe.model_copy(update={"accelerator": accelerator})
        launched = launch(inputs.qemu, recipe, pipes)
        command = launched.command
        with Process(command, files.log, launched.confined) as process:
            watch = _LiveWatch(inputs, process, console, report, progress, accelerator is Accelerator.KVM)
            reason, detail = watch.run()
            ended = process.end()
            wall_s = process.running_s
        watch.drain()
    text = files.console.read_bytes()
    log = files.log.read_text(encoding="utf-8", errors="replace")
    if reason == FailureReason.QEMU_DIED and not text and accelerator is Accelerator.KVM:
        # With KVM QEMU may also abort on what the host's kernel lets it set.
        raise _StuckError(explain_rejection(log).message)
    if reason == FailureReason.QEMU_DIED and not text and ended.exit_code > 0:
        raise explain_rejection(log, command)
    marks = watch.marks()
    write_marks(marks, bundle)
    write_log([(line.time_ns, line.text.decode(errors="replace")) for line in console.lines], bundle)
    write_without_rows(bundle)
    outcome = RunOutcome(reason, detail, text, files.report.read_bytes(), log, ended, wall_s)
    totals = Totals(instructions=None, virtual_ns=watch.ready_ns, idle_ns=None)
    return LiveBoot(outcome, Attributed(totals), accelerator)


class _LiveWatch:
    """Watches both streams until the boot's end is known."""

    def __init__(
        self, inputs: Inputs, process: Process, console: Arrivals, report: Arrivals, progress: Progress, may_stick: bool
    ) -> None:
        self._chosen = inputs.recipe.chosen
        self._process = process
        self._console = console
        self._report = report
        self._progress = progress
        self._may_stick = may_stick
        pattern = self._chosen.ready
        self._ready = re.compile(pattern) if pattern is not None else None
        self._seen: dict[str, tuple[int, str]] = {}
        self._panicked = False
        self.ready_ns: int | None = None

    def run(self) -> tuple[FailureReason | None, str]:
        """Reason of a failure (`None`: it came up) and detail."""
        quiet_since = 0.0
        while True:
            grew = self._poll()
            now = self._process.running_s
            self._progress.boot(Snapshot(now, self._console.size, None))
            quiet_since = now if grew else quiet_since
            exited = self._process.wait(0) is not None
            if exited:
                self.drain()
            if self.ready_ns is not None:
                self._until_reported()
                return None, ""
            if self._panicked and (exited or now - quiet_since > QUIET_S):
                return FailureReason.PANIC, panic_line(b"\n".join(line.text for line in self._console.lines))
            if exited:
                ended = self._process.end()
                if ended.exit_code != 0:
                    by = ended.killed_by or f"exit code {ended.exit_code}"
                    return FailureReason.QEMU_DIED, f"QEMU ended with {by}"
                return FailureReason.NEVER_READY, "the guest powered off or rebooted before it was ready"
            if now > self._chosen.timeout_wall_s:
                return FailureReason.WALL_TIMEOUT, f"not ready after {self._chosen.timeout_wall_s:g} s of the host"
            if self._may_stick and now > _STUCK_S and not self._console.size and not self._report.size:
                raise _StuckError(f"the guest printed nothing for {_STUCK_S:g} s")

    def marks(self) -> list[tuple[str, int, str, str]]:
        """What was seen, in order of time."""
        marks: list[tuple[str, int, str, str]] = [(Mark.POWER_ON, 0, MarkSource.HOST, "QEMU started")]
        if self._console.first_ns is not None:
            marks.append(("first_console_byte", self._console.first_ns, MarkSource.CONSOLE, ""))
        marks += [(name, time_ns, MarkSource.CONSOLE, detail) for name, (time_ns, detail) in self._seen.items()]
        if self.ready_ns is not None:
            source = MarkSource.CONSOLE if self._ready is not None else MarkSource.GUEST
            detail = self._chosen.ready or "first byte of the report"
            marks.append((Mark.READY, self.ready_ns, source, detail))
        return sorted(marks, key=lambda mark: mark[1])

    def drain(self) -> None:
        """Take what is still in the pipes."""
        while self._poll(timeout_s=0):
            pass

    def _poll(self, timeout_s: float = 0.1) -> bool:
        streams = {each.descriptor: each for each in (self._console, self._report)}
        readable = select.select(list(streams), [], [], timeout_s)[0]
        for descriptor in readable:
            for line in streams[descriptor].read():
                if descriptor == self._console.descriptor:
                    self._look(line)
        if self._ready is None and self._chosen.guest_helper and self.ready_ns is None:
            self.ready_ns = self._report.first_ns
        return bool(readable)

    def _look(self, line: Line) -> None:
        if PANIC.search(line.text):
            self._panicked = True
        for name, pattern in _CONSOLE_MARKS:
            if name not in self._seen and pattern.search(line.text):
                self._seen[name] = line.time_ns, line.text.decode(errors="replace")
        if self._ready is not None and self.ready_ns is None and self._ready.search(line.text.decode(errors="replace")):
            self.ready_ns = time.monotonic_ns() - self._console.origin_ns

    def _until_reported(self) -> None:
        """The guest came up: leave it the time to report and power off."""
        quiet_since = self._process.running_s
        until = quiet_since + AFTER_READY_S
        while self._chosen.guest_helper and self._process.running_s < until and self._process.wait(0) is None:
            now = self._process.running_s
            quiet_since = now if self._poll() else quiet_since
            if now - quiet_since > _POWER_OFF_S and any(line.text == b"end 0" for line in self._report.lines[-3:]):
                # It reported, and cannot power off.
                break
        self.drain()
