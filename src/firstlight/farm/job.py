"""A boot that another machine can make: permitted choices, inputs by digest, and what must be equal there."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import Field, JsonValue, ValidationError

from firstlight.cache import digest_of, entry, file_digest
from firstlight.errors import LabError, UsageError
from firstlight.experiment.boot_cache import engine_digest
from firstlight.farm.packing import pack, unpack
from firstlight.farm.signing import unsigned
from firstlight.farm.store import Store
from firstlight.frozen import StrictModel
from firstlight.lab.run.resolve import Inputs
from firstlight.recipe.choices import read_choices
from firstlight.recipe.options import RecordOptions, options_for
from firstlight.version import VERSION

#: Choices that a job contains as values.
ALLOWED = frozenset(
    "arch root_as guest_commands append memory cpu cpus machine shift seed initramfs_order ready profile devices "
    "user_functions timeout_wall_s timeout_virtual_s".split()
)
#: Choices that are files or directories; the store contains them.
INPUTS = (
    "kernel",
    "initrd",
    "loader",
    "loader_symbols",
    "dtb",
    "storage",
    "rootfs",
    "overlay",
    "initramfs_files",
    "symbols",
)
#: Choices that a job cannot make, with the reason.
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "live": "a boot in live mode depends on its machine",
        "qemu": "a worker boots with its own QEMU, which must be the same",
        "qemu_options": "a worker accepts no QEMU arguments from other machines",
    }
)
_NAMED_ROOTS = ("debian",)
_LONGEST_S = 24 * 3600.0
_DIGEST = re.compile(r"[0-9a-f]{64}")


class MissingInputError(LabError):
    """The store lacks an input. The machine that requested the boot uploads it again."""


class UntrustedJobError(LabError):
    """A job without a signature by a key that this machine trusts."""


class Input(StrictModel):
    """A file or a directory in the store."""

    digest: str = Field(pattern=_DIGEST.pattern, description="SHA-256 of the file, or of the packed directory")
    kind: Literal["file", "directory"]


class Job(StrictModel):
    """`jobs/KEY.json`, as `docs/reference/formats/farm-store.md` specifies it."""

    schema_version: Literal[1] = 1
    key: str = Field(pattern=_DIGEST.pattern, description="the digest of all that decides the boot")
    choices: dict[str, JsonValue]
    inputs: dict[str, Input]
    digests: dict[str, str | None] = Field(description="of every input as resolved, of QEMU and of the plugin")
    firstlight: str = Field(description="the version that makes the tables")
    engine: str = Field(description="the digest of the engine that makes the tables")


def submit(options: RecordOptions, key: str, resolved: Inputs, store: Store) -> Job:
    """Upload a job and its inputs to a store.

    :param key: of the boot.
    :param resolved: the inputs on this machine.
    :raises UsageError: for choices that a worker cannot use.
    """
    default = RecordOptions(options.output)
    for name, reason in REFUSED.items():
        if getattr(options, name) != getattr(default, name):
            raise UsageError(f"`{name}` cannot be sent to workers: {reason}", hint="boot it here, without workers")
    choices = {name: getattr(options, name) for name in ALLOWED}
    inputs: dict[str, Input] = {}
    for name in INPUTS:
        # What has a default or a name is sent as the file that was found.
        found = name in ("kernel", "loader", "storage")
        value = getattr(resolved.recipe.files if found else options, name)
        if value is None:
            continue
        if name == "rootfs" and value in _NAMED_ROOTS:
            choices["rootfs"] = value
        else:
            inputs[name] = _put(Path(value), store)
    choices["guest_commands"] = list(options.guest_commands)
    job = Job(
        key=key, choices=choices, inputs=inputs, digests=resolved.digests, firstlight=VERSION, engine=engine_digest()
    )
    _put_job(job, store)
    return job


def _put_job(job: Job, store: Store) -> None:
    name = f"{job.key}.json"
    signed = store.keys.signed("job", job.model_dump(mode="json"))
    if store.put_text("jobs", name, signed) or store.keys.own is None:
        return
    there = store.read("jobs", name)
    if there is None or not store.keys.trusts("job", there):
        # Someone without a key put it there, perhaps to prevent this boot.
        store.replace("jobs", name, signed)


def _put(path: Path, store: Store) -> Input:
    """Upload a file, or a directory as one file, under its digest."""
    if not path.is_dir():
        digest = file_digest(path)
        store.put("inputs", digest, lambda made: _copied(path, made, digest))
        return Input(digest=digest, kind="file")
    with tempfile.TemporaryDirectory(prefix="firstlight-") as folder:
        packed = Path(folder) / "packed"
        pack(path, packed)
        digest = file_digest(packed)
        store.put("inputs", digest, lambda made: _copied(packed, made, digest))
    return Input(digest=digest, kind="directory")


def is_asked(job: Job, store: Store) -> bool:
    """Whether a store still has a job and all its inputs, which `firstlight farm tidy` may have removed."""
    inputs = all(store.has("inputs", each.digest) for each in job.inputs.values())
    return inputs and store.has("jobs", f"{job.key}.json")


def fetch(one: Input, store: Store) -> Path:
    """The path of an input on this machine, from the cache or the store.

    :raises MissingInputError: when the store lacks it.
    :raises LabError: when the file in the store does not match its digest.
    """

    def make(directory: Path) -> None:
        if one.kind == "file":
            _fetch(one.digest, directory / "input", store)
            return
        with tempfile.TemporaryDirectory(prefix="firstlight-") as folder:
            _fetch(one.digest, Path(folder) / "packed", store)
            unpack(Path(folder) / "packed", directory / "input")

    return entry("farm-inputs", digest_of(one.kind, one.digest), make) / "input"


def _fetch(digest: str, target: Path, store: Store) -> None:
    where = store.where_is("inputs", digest)
    if not store.fetch("inputs", digest, target):
        raise MissingInputError("the store lacks an input of this job", where=where, hint="submit the job again")
    _check(target, digest, where)


def options_of(job: Job, output: Path, store: Store) -> RecordOptions:
    """The options that a job states, with the paths of its inputs on this machine.

    :raises LabError: for choices that a job may not contain, or a missing input.
    """
    choices = dict(job.choices)
    for name, value in choices.items():
        if name not in ALLOWED and not (name == "rootfs" and value in _NAMED_ROOTS):
            raise LabError(f"a job may not contain the choice `{name}`", where=job.key)
    for name, one in job.inputs.items():
        if name not in INPUTS:
            raise LabError(f"`{name}` is not an input of a job", where=job.key)
        choices[name] = str(fetch(one, store))
    try:
        found = read_choices(choices)
    except ValidationError as error:
        raise LabError(f"the choices of this job are invalid: {error.errors()[0]['msg']}", where=job.key) from error
    if found.timeout_wall_s > _LONGEST_S:
        raise LabError("the job needs more than a day of this machine", where=job.key)
    return options_for(found, output)


def read_job(store: Store, key: str) -> Job | None:
    """A job of a store; `None` where there is none.

    :raises UntrustedJobError: when no key that this machine trusts signed it.
    :raises LabError: when it is damaged, or of a newer Firstlight.
    """
    found = store.read("jobs", f"{key}.json")
    if found is None:
        return None
    if (objection := store.keys.objection("job", found)) is not None:
        raise UntrustedJobError(f"this job is rejected: {objection}", where=store.where_is("jobs", f"{key}.json"))
    try:
        job = Job.model_validate(unsigned(found))
    except ValidationError as error:
        place = store.where_is("jobs", f"{key}.json")
        raise LabError(f"this job is damaged: {error.errors()[0]['msg']}", where=place) from error
    if job.key != key:
        raise LabError("this job has the name of another job", where=store.where_is("jobs", f"{key}.json"))
    return job


def job_keys(store: Store) -> list[str]:
    """The keys of the jobs of a store, by the names of their files; files with other names are not jobs.

    :raises LabError: when the store cannot be used.
    """
    stems = (name.removesuffix(".json") for name in store.names("jobs") if name.endswith(".json"))
    return [stem for stem in stems if _DIGEST.fullmatch(stem)]


def strays(store: Store) -> list[str]:
    """The files among the jobs of a store whose names are not keys.

    :raises LabError: when the store cannot be used.
    """
    jobs = {f"{key}.json" for key in job_keys(store)}
    return [name for name in store.names("jobs") if name not in jobs]


def unequal(job: Job, key: str, resolved: Inputs) -> str | None:
    """State how this machine differs from what a job requires; `None` when the boot is the same here.

    :param key: of the boot, as this machine would record it.
    """
    if job.firstlight != VERSION:
        return f"the job requires Firstlight {job.firstlight}; this is {VERSION}"
    if job.engine != engine_digest():
        return f"the job requires another build of Firstlight's engine ({job.engine[:12]}, not {engine_digest()[:12]})"
    names = [name for name, digest in sorted(job.digests.items()) if resolved.digests.get(name) != digest]
    if names:
        return "these differ here from what the job requires: " + ", ".join(
            f"{name} ({_short(resolved.digests.get(name))}, not {_short(job.digests[name])})" for name in names
        )
    return None if key == job.key else "the choices of this job give a different boot here"


def _short(digest: str | None) -> str:
    return "none" if digest is None else digest[:12]


def _copied(source: Path, target: Path, digest: str) -> None:
    shutil.copyfile(source, target)
    _check(target, digest, str(source))


def _check(path: Path, digest: str, where: str) -> None:
    if file_digest(path) != digest:
        raise LabError("this file does not match its digest", where=where, hint="remove it from the store")
