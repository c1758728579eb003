"""Perfetto: native track events, written by the engine."""

from __future__ import annotations

from pathlib import Path

from firstlight import _core
from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Manifest
from firstlight.exporters.perfetto_processes import append_processes
from firstlight.exporters.result import Exported
from firstlight.quantities import counted


def write_perfetto(boot: Boot, out: Path) -> Exported:
    """Write *boot* as a trace to *out*.

    The tables of spans are read by the engine alone, so that a million spans take little time.

    :raises BundleError: when a table cannot be read.
    :raises FirstlightError: when the file cannot be written.
    """
    bundle, manifest = boot.directory, boot.manifest
    title = bundle.resolve().name.removesuffix(".boot")
    trace = _core.export_perfetto(str(bundle), str(out), title, about(manifest))
    exported = Exported({"spans": trace.spans, "log lines": trace.lines})
    exported.counts |= append_processes(boot, out, trace.shift_ns)
    exported.leave_out(trace.left_out)
    if trace.lines_without_time:
        exported.notes.append(f"{counted(trace.lines_without_time, 'log line')} left out: they have no time")
    if trace.shift_ns:
        exported.notes.append(f"every time is {trace.shift_ns:,} ns later than in the bundle: some are negative")
    tree = manifest.tables.get("calls")
    if tree is not None and tree.rows:
        exported.notes.append(
            "the calling-context tree has no time axis: `--to firefox` and `--to speedscope` contain it"
        )
    return exported


def about(manifest: Manifest) -> str:
    """Describe the times of a boot in a sentence, for readers who have only the exported file.

    >>> about(firstlight.open(bundle).manifest)
    'Exact boot; virtual clock, time 0 is power_on; written by firstlight ...'
    """
    from firstlight.version import VERSION

    clock = manifest.clock
    failed = "" if manifest.failure is None else f" failed ({manifest.failure.reason})"
    mode = manifest.mode.capitalize()
    return f"{mode} boot{failed}; {clock.kind} clock, time 0 is {clock.origin}; written by firstlight {VERSION}"
