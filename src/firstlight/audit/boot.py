"""Booting a bundle's recipe again, with the oracle in place of the recorder."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from firstlight._core import elf_labels
from firstlight.assets import asset_path
from firstlight.audit.agreement import Agreement, AuditDifference, agreement
from firstlight.audit.causes import with_causes
from firstlight.audit.layout import layout
from firstlight.audit.observed import Observation, read_observation
from firstlight.audit.recorded import recorded_tables
from firstlight.audit.tables import AuditEvidence, Tables
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError, LabError, UsageError
from firstlight.lab.guest.report import read_report
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.kernel.modules import module_files, read_module
from firstlight.lab.qemu.command_line import RunFiles, write_storage_config
from firstlight.lab.qemu.confinement import launch
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.lab.run.runner import RunOutcome, Watch, run
from firstlight.recipe.isa import architecture_of, architectures
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.recipe import Recipe
from firstlight.schema.records import FailureReason

ORACLE = "firstlight-oracle.so"
COUNT_TOLERANCE = 16
"""Instructions by which two observers' counts of one boot may differ: one was begun, faulted and was done again."""
# The oracle looks at every block, the recorder at some: it takes up to twice the time.
_SLOWER = 4.0
# What only watches a boot.
_OBSERVERS = ("plugin",)


@dataclass(frozen=True)
class Audit:
    """What the second observer says of a recording."""

    agreement: Agreement
    observation: Observation
    recorded: Tables
    causes: tuple[tuple[AuditDifference, str | None], ...]
    """Every exception with its cause, where that is known."""
    qemu: str
    processor: str
    kernel: str


def audit(bundle: Path, progress: Progress | None = None, *, trust: bool = False) -> Audit:
    """Boot the recipe of a bundle with a second, independent observer, and compare what both saw.

    :param bundle: the bundle's path.
    :param progress: hears how it goes on.
    :param trust: use what a bundle names that was not recorded here.
    :raises BundleError: when the bundle is damaged, or no recording.
    :raises FirstlightError: when it has no profile, is of a live boot, or did not come to an end of its own.
    :raises UsageError: when the second observer does not know the processor of the guest.
    :raises LabError: when an input is missing or another one, when the second boot was not the same, or when the oracle
        could not observe it.
    """
    progress = progress or SilentProgress()
    manifest = open_boot(bundle).manifest
    _check(manifest, str(bundle))
    with interruptible(), progress, tempfile.TemporaryDirectory(prefix="firstlight-audit-") as directory:
        inputs = inputs_of(manifest, Path(directory) / "again.boot", str(bundle), progress, trust=trust)
        progress.step("booting with the second observer")
        files = RunFiles(Path(directory))
        outcome = boot_with_oracle(inputs, files, bundle, progress)
        _check_same(outcome, bundle)
        progress.step("comparing")
        seen = read_observation(_tables(files))
    _check_sound(seen, str(bundle))
    known = seen.tables.functions.keys()
    recorded = recorded_tables(bundle, seen.aliases, known, consoles=seen.names_initcalls)
    if not same_count(recorded, seen.tables):
        raise LabError(
            f"the boots are not equal: {recorded.instructions:,} instructions when recorded, "
            f"{seen.tables.instructions:,} now",
            where=str(bundle),
            hint="`firstlight verify` shows the differences",
        )
    agreed = agreement(recorded, seen.tables)
    evidence = _with_recorders(seen.evidence, manifest, inputs)
    return Audit(
        agreed,
        seen,
        recorded,
        tuple(with_causes(agreed, evidence, recorded, seen.tables)),
        inputs.qemu.version_text,
        inputs.recipe.cpu,
        str(manifest.versions.get("kernel", "")),
    )


def same_count(recorded: Tables, observed: Tables) -> bool:
    """Whether two observers counted one boot: all of it, or from the kernel's entry on.

    Firmware asks by traps what a processor has (OpenSBI). An instruction that traps was not executed to QEMU, but the
    second observer has counted it: it follows faults of the kernel only.

    >>> one = Tables(1_000, before_kernel=300)
    >>> same_count(one, Tables(1_018, before_kernel=318)), same_count(one, Tables(1_018, before_kernel=300))
    (True, False)
    """
    apart = observed.instructions - recorded.instructions
    before = observed.before_kernel - recorded.before_kernel
    return min(abs(apart), abs(apart - before)) <= COUNT_TOLERANCE


def inputs_of(manifest: Manifest, output: Path, where: str, progress: Progress, *, trust: bool = False) -> Inputs:
    """The inputs of a bundle's recipe, which have to be those that were recorded.

    :param output: where a recording of it would go; nothing is written there.
    :param where: the bundle, for messages.
    :param trust: use what a bundle names that was not recorded here.
    :raises BundleError: when the bundle has no recipe.
    :raises LabError: when an input is missing, or another one by now.
    """
    inputs = resolve(options_from_manifest(manifest, output, where, trust=trust), progress)
    for name, digest in sorted(manifest.digests.items()):
        if name not in _OBSERVERS and inputs.digests.get(name) != digest:
            raise LabError(
                f"the input `{name}` is not the recorded one, so the boot would be another",
                where=where,
                hint="record it again, then audit that",
            )
    return inputs


def _with_recorders(evidence: AuditEvidence, manifest: Manifest, inputs: Inputs) -> AuditEvidence:
    """The second observer's evidence, with where functions lie and what the recorder knows that it lost."""
    assert inputs.symbols is not None  # a recording with a profile has symbols
    symbols = inputs.symbols.read_text(encoding="utf-8", errors="replace")
    returned = manifest.invariants.get("frames_returned")
    lost, names = (0, None) if returned is None else (returned.value, (returned.model_extra or {}).get("functions"))
    return dataclasses.replace(
        evidence,
        layout=layout(symbols),
        lost_returns=lost if isinstance(lost, int) else 0,
        lost_in=frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset(),
    )


def _check(manifest: Manifest, where: str) -> None:
    if manifest.mode != RecordMode.EXACT:
        raise FirstlightError(
            f"a boot in {manifest.mode} mode never repeats, so it cannot be observed again",
            where=where,
            hint="record without `--live`",
        )
    if manifest.failure is not None and manifest.failure.reason != FailureReason.PANIC:
        raise FirstlightError(
            f"this boot ended by `{manifest.failure.reason}`, at a time that the second observer cannot see",
            where=where,
            hint="audit one that came up, or panicked",
        )
    if not isinstance(manifest.recipe, Recipe):
        return
    architecture = architecture_of(manifest.recipe.architecture)
    if architecture.audited is None:
        known = sorted(each.distribution_name for each in architectures().values() if each.audited is not None)
        raise UsageError(
            f"the second observer does not know the processor of this guest, {architecture.distribution_name}",
            where=where,
            hint=f"audit a boot of {', '.join(known)}",
        )
    if not manifest.recipe.chosen.profile:
        raise FirstlightError("this bundle has no profile", where=where, hint="record without `--no-profile`")
    if manifest.recipe.chosen.cpus > 1:
        raise FirstlightError(
            f"this guest has {manifest.recipe.chosen.cpus} processors, and the second observer follows one",
            where=where,
            hint="record with `--cpus 1`, and audit that",
        )


def boot_with_oracle(inputs: Inputs, files: RunFiles, bundle: Path, progress: Progress) -> RunOutcome:
    """Run a recipe once with the oracle, and leave its evidence in *files*.

    :param bundle: the recording, whose report names what modules had loaded.
    :raises LabError: when the oracle is missing, or QEMU does not start.
    """
    oracle = asset_path(ORACLE)
    recipe = inputs.recipe
    chosen = recipe.chosen
    assert inputs.symbols is not None  # a recording with a profile has symbols
    symbols = files.directory / "symbols"
    symbols.write_bytes(inputs.symbols.read_bytes() + b"\n" + _module_symbols(bundle, inputs.kernel.modules))
    config = {
        "symbols": str(symbols),
        "output": str(_tables(files)),
        "status": str(files.status),
        "console": str(files.console),
        "ready": {"mark": chosen.ready is None and chosen.guest_helper, "console": chosen.ready},
    }
    files.plugin_config.write_text(json.dumps(config, indent=1), encoding="utf-8")
    write_storage_config(recipe, files)
    watch = Watch(_SLOWER * chosen.timeout_wall_s, profile=True, report=chosen.guest_helper)
    command = launch(inputs.qemu, recipe, files, oracle, symbols)
    return run(command, files, watch, progress.boot)


def _tables(files: RunFiles) -> Path:
    return files.directory / "oracle.json"


def _module_symbols(bundle: Path, modules: Path | None) -> bytes:
    """The functions of modules by address: in an equal boot they lie where they lay.

    :param modules: the modules' files, which distinguish functions from labels of assembler; the report does not.
    """
    report = bundle / "raw" / "report.bin"
    listed = read_report(report.read_bytes()).records.get("kallsyms.modules", b"") if report.is_file() else b""
    files = {} if modules is None else module_files(modules)
    labels_of: dict[bytes, set[str]] = {}
    kept = []
    for line in listed.splitlines(keepends=True):
        words = line.split()
        if len(words) == 4:
            module = words[3].strip(b"[]")
            if module not in labels_of:
                labels_of[module] = _labels(files.get(module.decode(errors="replace")))
            if words[2].decode(errors="replace") in labels_of[module]:
                continue
        kept.append(line)
    return b"".join(kept)


def _labels(module: Path | None) -> set[str]:
    if module is None:
        return set()
    try:
        return elf_labels(read_module(module))
    except (LabError, ValueError):
        return set()


def _check_same(outcome: RunOutcome, bundle: Path) -> None:
    if outcome.reason not in (None, FailureReason.PANIC):
        raise LabError(
            f"the boot with the second observer failed ({outcome.reason}): {outcome.detail}", where=str(bundle)
        )
    console = bundle / "raw" / "console.log"
    recorded = console.read_bytes() if console.is_file() else b""
    # Where a guest does not power off by itself the launcher ends it: what comes after the mark depends on the host.
    length = min(len(recorded), len(outcome.console))
    if not length or recorded[:length] != outcome.console[:length]:
        raise LabError(
            "the boots are not equal: the console differs",
            where=str(bundle),
            hint="`firstlight verify` shows the differences",
        )


def _check_sound(seen: Observation, where: str) -> None:
    """What the oracle took for the stack pointer has to be one."""
    checks = seen.evidence.checks
    looked, wrong = checks.get("stack_pointers", 0), checks.get("not_at_return_address", 0)
    if looked == 0 or wrong * 100 > looked:
        raise LabError(
            f"the second observer did not see the stack pointer: {wrong:,} of {looked:,} values there are no return "
            "address",
            where=where,
            hint="this QEMU keeps its registers elsewhere; audit with another one",
        )
