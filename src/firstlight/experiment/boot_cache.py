"""Exact boots that were recorded once, kept by their keys for whoever asks for the same."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from pathlib import Path

from firstlight.bundle.digests import check_digests
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import read_manifest
from firstlight.cache import cache_dir, digest_of, file_digest
from firstlight.errors import BundleError, FirstlightError, LabError, UnhealthyBootError
from firstlight.lab.host.progress import Progress
from firstlight.lab.run.record import record
from firstlight.lab.run.resolve import Inputs
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions
from firstlight.schema.records import FailureReason
from firstlight.version import VERSION

_AT_MOST = 4 << 30
"""Bytes; beyond, what was not asked for the longest goes."""
_ABANDONED_S = 86_400
_HOST = (FailureReason.WALL_TIMEOUT, FailureReason.QEMU_DIED, FailureReason.PLUGIN)
"""Failures that say nothing of the recipe."""

Recorder = Callable[[RecordOptions, Inputs, Progress], None]
"""Makes the boot of some inputs at the `output` of the options; raises what `record` raises."""

_RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recorded_by(recorder: Recorder) -> Iterator[None]:
    """Within this context other machines make the boots that are not in the cache."""
    token = _RECORDER.set(recorder)
    try:
        yield
    finally:
        _RECORDER.reset(token)


def is_recorded_elsewhere() -> bool:
    """Whether the processors of this machine make no boots now: see :func:`recorded_by`."""
    return _RECORDER.get() is not None


def make(options: RecordOptions, inputs: Inputs, progress: Progress) -> None:
    """Record a boot, here or where :func:`recorded_by` says.

    :param inputs: what the options were resolved to, when the key of the boot was computed.
    :raises UnhealthyBootError: when the guest did not come up; the bundle is written.
    :raises LabError: when it cannot be booted.
    """
    recorder = _RECORDER.get()
    if recorder is None:
        record(options, progress)
    else:
        recorder(options, inputs, progress)


def is_cacheable(manifest: Manifest) -> bool:
    """Whether a boot is one that its recipe always gives."""
    failure = manifest.failure
    return manifest.mode == RecordMode.EXACT and (failure is None or failure.reason not in _HOST)


def place(key: str) -> Path:
    """Where the boot of a key is, or may be recorded to.

    :raises LabError: when the cache cannot be made.
    """
    return _folder() / f"{key}.boot"


def is_cached(key: str) -> bool:
    """Whether a boot is kept under a key, and is what the key says. One that is damaged is removed, with a note."""
    kept = place(key)
    try:
        if not kept.is_dir():
            return False
        manifest = read_manifest(kept)
        if key_of_boot(manifest) != key:
            return False
        check_digests(kept, manifest, manifest.tables)
        os.utime(kept)
    except BundleError as error:
        print(f"note: a boot in the cache is booted again, because it is damaged: {error}", file=sys.stderr)
        shutil.rmtree(kept, ignore_errors=True)
        return False
    except (OSError, FirstlightError):
        return False
    return True


def find(key: str, destination: Path) -> bool:
    """Put a boot that was kept under a key at *destination*; false when there is none."""
    try:
        if not is_cached(key):
            return False
        copy(place(key), destination)
    except (OSError, FirstlightError):
        return False
    return True


def obtain(options: RecordOptions, inputs: Inputs, progress: Progress, output: Path | None = None) -> tuple[Path, bool]:
    """Take a boot from the cache, or record it there.

    :param options: where they would put the bundle is not looked at.
    :param inputs: what the options were resolved to.
    :param output: where a copy goes, also of one that did not come up now; what is there is replaced.
    :returns: the bundle, and whether it had to be booted.
    :raises UnhealthyBootError: when it did not come up, now or when it was recorded; one that its recipe need not give
        again is not kept.
    :raises LabError: when it cannot be booted.
    """
    key = inputs.key
    kept = place(key)
    booted = not is_cached(key)
    if booted:
        try:
            make(replace(options, output=kept, force=True), inputs, progress)
        except UnhealthyBootError:
            if output is not None:
                copy(kept, output, replacing=True)
            drop_unless_cacheable(key)
            raise
    else:
        require_success(kept)
    if output is None:
        return kept, booted
    copy(kept, output, replacing=True)
    return output, booted


def require_success(bundle: Path) -> None:
    """Check that a boot came up.

    :raises UnhealthyBootError: when it did not.
    """
    failure = read_manifest(bundle).failure
    if failure is not None:
        raise UnhealthyBootError(f"the boot failed ({failure.reason}): {failure.detail}", where=str(bundle))


def keep(bundle: Path, key: str) -> None:
    """Keep a boot. That it cannot be kept is not an error: it is only booted again then."""
    with suppress(OSError, FirstlightError):
        if not place(key).exists():
            copy(bundle, place(key))
        _prune(_folder())


def drop_unless_cacheable(key: str) -> None:
    """Remove a boot that was recorded into its place, and that its recipe need not give again."""
    with suppress(OSError, FirstlightError):
        if not is_cacheable(read_manifest(place(key))):
            shutil.rmtree(place(key), ignore_errors=True)


def forget(key: str) -> None:
    """Remove the boot of a key, if it is kept, so that it is booted again.

    :raises LabError: when it cannot be removed.
    """
    kept = place(key)
    try:
        if kept.is_dir():
            shutil.rmtree(kept)
    except OSError as error:
        raise LabError(f"cannot be removed: {error.strerror}", where=str(kept)) from error


def copy(bundle: Path, destination: Path, *, replacing: bool = False) -> None:
    """Copy a bundle, by hard links where that goes: no file of a bundle is ever changed.

    :param replacing: a bundle that is there goes.
    :raises OSError: when it cannot be written.
    """
    temporary = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", suffix=".copy", dir=destination.parent))
    try:
        shutil.copytree(bundle, temporary / "boot", copy_function=_link)
        if replacing and (destination / "manifest.json").is_file():
            destination.rename(temporary / "former")
        (temporary / "boot").rename(destination)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _folder() -> Path:
    folder = cache_dir() / "boots" / digest_of(VERSION, engine_digest())[:16]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"cannot make the cache: {error.strerror}", where=str(folder)) from error
    return folder


@cache
def engine_digest() -> str:
    """The digest of the engine, which makes the tables: another engine may make others from the same evidence."""
    import firstlight._core

    return file_digest(Path(firstlight._core.__file__))


def _link(source: str, destination: str) -> None:
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)


def _prune(folder: Path) -> None:
    """Remove what was not asked for the longest, until the rest is small enough."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in folder.glob(".*.boot.*"):
            # Of one that was killed; what is being written now is younger.
            if left.is_dir() and time.time() - left.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(left, ignore_errors=True)
        kept = []
        for bundle in folder.glob("*.boot"):
            size = sum(file.stat().st_size for file in bundle.rglob("*") if file.is_file())
            kept.append((bundle.stat().st_mtime, size, bundle))
        total = sum(size for _, size, _ in kept)
        for _, size, bundle in sorted(kept):
            if total <= _AT_MOST:
                return
            shutil.rmtree(bundle, ignore_errors=True)
            total -= size
