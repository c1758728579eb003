"""Records a boot: from the user's choices to a bundle."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from pydantic import JsonValue

from firstlight.bundle.command_line import unread, word_facts
from firstlight.bundle.machine import LEFT_OUT
from firstlight.bundle.manifest import SCHEMA_VERSION, BootState, Clock, Completeness, Failure, Manifest, Tool
from firstlight.bundle.reliability import HINT, broken, broken_text, invariant_text
from firstlight.bundle.writer import check_destination, check_space, describe_tables, new_bundle, sweep, write_manifest
from firstlight.errors import LabError, UnhealthyBootError
from firstlight.lab.guest.failure_hints import advice
from firstlight.lab.guest.report import Report, read_report
from firstlight.lab.host.made_here import remember
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.qemu.command_line import RunFiles, write_plugin_config, write_storage_config
from firstlight.lab.qemu.confinement import launch
from firstlight.lab.qemu.emulator import left_out_features
from firstlight.lab.run.command_line_evidence import words_of
from firstlight.lab.run.device_probes import device_questions, tables_from_devices
from firstlight.lab.run.guest_architecture import guest_architecture
from firstlight.lab.run.live import boot_live
from firstlight.lab.run.packages import tables_from_packages
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.lab.run.runner import RunOutcome, Watch, run
from firstlight.lab.run.tables import (
    Attributed,
    ready_time,
    tables_from_console,
    tables_from_guest,
    tables_from_profile,
    tables_from_systemd,
    write_facts,
    write_kept,
)
from firstlight.lab.run.validate_options import check_choices
from firstlight.lab.storage.model import read_model
from firstlight.lab.storage.requests import storage_facts
from firstlight.recipe.command import repeat_command
from firstlight.recipe.field_types import Accelerator
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions
from firstlight.schema.records import ClockKind, FailureReason
from firstlight.version import VERSION


@dataclass(frozen=True)
class _Booted:
    """One boot, run and written into its bundle's tables."""

    outcome: RunOutcome
    report: Report
    attributed: Attributed
    accelerator: Accelerator
    missing: list[str]


def record(
    options: RecordOptions,
    progress: Progress | None = None,
    *,
    asks: Mapping[str, Any] | None = None,
    inputs: Inputs | None = None,
) -> Path:
    """Record one boot, exactly unless `options.live` says otherwise.

    :param options: the choices; times in seconds.
    :param progress: hears how it goes on.
    :param asks: what the plugin records of the calls of functions (docs/reference/formats/plugin.md).
    :param inputs: what the options were resolved to a moment ago; resolved here by default.
    :returns: the bundle's path.
    :raises UsageError: for choices that cannot be.
    :raises LabError: for inputs that are missing or damaged, a QEMU that does not start, a destination that is taken;
        nothing is left behind.
    :raises UnhealthyBootError: when the guest did not come up; the bundle is written, and says why.
    :raises KeyboardInterrupt: when the user interrupts; nothing is left behind.

    Source: the recipe of the design, "Exact mode: what is known to work".
    """
    progress = progress or SilentProgress()
    check_choices(options, guest_architecture(options))
    sweep(options.output.absolute())
    check_destination(options.output, force=options.force)
    with interruptible(), progress:
        inputs = inputs or resolve(options, progress)
        with new_bundle(options.output, force=options.force) as bundle:
            files = RunFiles(bundle / "raw")
            files.directory.mkdir(mode=0o700)
            # Polars takes most of a second to load, and is needed only after the boot: meanwhile is the time.
            Thread(target=import_module, args=["polars"], daemon=True).start()
            progress.step("booting")
            booted = _boot(inputs, files, bundle, progress, asks)
            progress.step("writing the bundle")
            manifest = _manifest(options, inputs, booted, bundle)
            digest = write_manifest(bundle, manifest)
        remember(digest, inputs.recipe.files, inputs.digests)
    _warn_of_broken(manifest, progress)
    if manifest.failure is not None:
        raise UnhealthyBootError(
            f"the boot failed ({manifest.failure.reason}): {manifest.failure.detail}",
            where=str(options.output),
            hint=advice(manifest.failure, options, booted.report, booted.outcome.console.decode(errors="replace")),
        )
    return options.output


def _warn_of_broken(manifest: Manifest, progress: Progress) -> None:
    """Say that the recording is not reliable, where one of its invariants does not hold."""
    if (text := broken_text(manifest)) is None:
        return
    invariants = "; ".join(invariant_text(*each) for each in broken(manifest).items())
    progress.warn(f"this recording is not reliable: {text}: {invariants}; {HINT}")


def planned_command(options: RecordOptions, progress: Progress | None = None) -> str:
    """QEMU's command line for a recording, ready for a shell; nothing is booted.

    :raises UsageError: for choices that cannot be.
    :raises LabError: for inputs that are missing or damaged.
    """
    inputs = resolve(options, progress, dry_run=True)
    files = RunFiles(options.output.absolute() / "raw")
    return shlex.join(launch(inputs.qemu, inputs.recipe, files, inputs.plugin, inputs.symbols).command)


def _boot(inputs: Inputs, files: RunFiles, bundle: Path, progress: Progress, asks: Mapping[str, Any] | None) -> _Booted:
    live = boot_live(inputs, files, bundle, progress) if inputs.recipe.chosen.live else None
    outcome = live.outcome if live is not None else run_exact(inputs, files, progress, asks)
    check_space(bundle, outcome.detail)
    report = read_report(outcome.report, behind_firmware=inputs.recipe.files.loader is not None)
    missing = _missing(inputs, outcome, report)
    if live is not None:
        attributed, accelerator = live.attributed, live.accelerator
    else:
        attributed, accelerator = _attribute(inputs, files, bundle, outcome, report, missing), Accelerator.TCG
    facts = tables_from_console(files.console, report, bundle)
    if inputs.recipe.chosen.devices:
        facts += tables_from_devices(files.answers, bundle, len(asks["questions"]) if asks is not None else 0)
    words = words_of(inputs, report, outcome.console.decode(errors="replace"))
    for word in unread(words):
        progress.warn(f"nothing read `{word.text}` on the kernel's command line: {word.detail}")
    facts += word_facts(words)
    if lacking := left_out_features(outcome.log):
        cpu = inputs.recipe.cpu
        progress.note(f"QEMU emulates `{cpu}` without {len(lacking)} of its features: {', '.join(lacking)}")
        facts.append((LEFT_OUT, " ".join(lacking)))
    if inputs.recipe.files.storage is not None:
        facts += storage_facts(files.storage_log, read_model(inputs.recipe.files.storage), ready_time(bundle))
    facts += tables_from_packages(inputs.recipe.files.image, bundle)
    write_facts(report, bundle, [*facts, *tables_from_systemd(report, bundle)])
    write_kept(report, files.directory)
    for path in (files.status, files.plugin_config, files.storage_config):
        path.unlink(missing_ok=True)
    return _Booted(outcome, report, attributed, accelerator, missing)


def _missing(inputs: Inputs, outcome: RunOutcome, report: Report) -> list[str]:
    """What the evidence lacks of what was asked for, in words."""
    missing = [] if outcome.reason is None else [f"the boot from its failure on ({outcome.reason})"]
    if not inputs.recipe.chosen.guest_helper:
        # Nothing in such a guest was asked for a report.
        return missing
    if not report.records:
        missing.append("the guest's report")
    else:
        missing += [f"of the guest's report: {problem}" for problem in report.problems]
        refused = (report.text("kept-refused") or "").splitlines()
        missing += [f"a file that the guest kept: its name cannot be reported: {name}" for name in refused]
    return missing


def run_exact(
    inputs: Inputs, files: RunFiles, progress: Progress | None = None, asks: Mapping[str, Any] | None = None
) -> RunOutcome:
    """Run the recipe once, exactly, and leave its evidence in *files*.

    :raises LabError: when QEMU does not start.
    """
    chosen = inputs.recipe.chosen
    write_storage_config(inputs.recipe, files)
    if chosen.devices:
        asks = device_questions(asks)
    if inputs.plugin is not None and inputs.symbols is not None:
        write_plugin_config(inputs.recipe, files, inputs.symbols, asks)
    watch = Watch(
        timeout_wall_s=chosen.timeout_wall_s,
        profile=inputs.plugin is not None,
        report=chosen.guest_helper,
        ready_pattern=chosen.ready,
    )
    command = launch(inputs.qemu, inputs.recipe, files, inputs.plugin, inputs.symbols)
    return run(command, files, watch, (progress or SilentProgress()).boot)


def _attribute(
    inputs: Inputs, files: RunFiles, bundle: Path, outcome: RunOutcome, report: Report, missing: list[str]
) -> Attributed:
    if inputs.plugin is not None and files.profile.is_file():
        cut_log = outcome.reason in (None, FailureReason.VIRTUAL_TIMEOUT)
        return tables_from_profile(inputs.recipe, files, report, bundle, cut_log=cut_log)
    if inputs.plugin is not None:
        if outcome.reason is None:
            raise LabError("the plugin left no profile", where=str(inputs.plugin), hint="run `firstlight doctor`")
        missing.append("the profile: QEMU ended before the first was written")
    # Where the guest ends at an instant of ours, what it printed after the mark depends on the host.
    cut = outcome.ready_offset if not inputs.recipe.chosen.guest_helper else None
    if "ready.tsc" not in report.records:
        missing.append("marks and phases: without a profile they come from the guest's report")
    chosen = inputs.recipe.chosen
    return tables_from_guest(report, outcome.console[:cut], bundle, chosen.shift, chosen.ready)


def _manifest(options: RecordOptions, inputs: Inputs, booted: _Booted, bundle: Path) -> Manifest:
    outcome = booted.outcome
    failure = None
    if outcome.reason is not None:
        failure = Failure(reason=outcome.reason, detail=outcome.detail, console_tail=outcome.console_tail())
    live = options.live
    return Manifest(
        schema_version=SCHEMA_VERSION,
        tool=Tool(name="firstlight", version=VERSION),
        mode=RecordMode.LIVE if live else RecordMode.EXACT,
        status=BootState.COMPLETE if failure is None else BootState.FAILED,
        failure=failure,
        clock=Clock(
            kind=ClockKind.HOST if live else ClockKind.VIRTUAL,
            unit="ns",
            origin=booted.attributed.origin,
            icount_shift=None if live else options.shift,
        ),
        recipe=inputs.recipe.model_copy(update={"accelerator": booted.accelerator}),
        digests=inputs.digests,
        versions=_json(
            {"qemu": inputs.qemu.version_text, "kernel": inputs.kernel.release, **booted.attributed.versions}
        ),
        completeness=Completeness(complete=not booted.missing, missing=[*booted.missing, *booted.attributed.notes]),
        invariants=booted.attributed.invariants,
        totals=booted.attributed.totals,
        tables=describe_tables(bundle),
        reproduce=repeat_command(inputs.recipe.chosen, options.output),
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        host={
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            "wall_s": round(outcome.wall_s, 3),
            "qemu_cpu_s": round(outcome.ended.cpu_s, 3),
            "qemu_peak_kib": outcome.ended.max_rss_kib,
            "confinement": dict(launch(inputs.qemu, inputs.recipe, RunFiles(bundle / "raw")).described()),
        },
    )


def _json(values: dict[str, object]) -> dict[str, JsonValue]:
    return {
        name: value if isinstance(value, (int, float)) else str(value)
        for name, value in values.items()
        if value is not None
    }
