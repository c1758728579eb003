"""The distribution's kernel package, downloaded by its ordinary client and unpacked without installing it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from firstlight.cache import cache_dir, entry, file_digest
from firstlight.errors import LabError
from firstlight.lab.architecture import X86_64

_KIND = "kernels"
#: As root the client would otherwise complain that its own user cannot write into a private directory.
_SANDBOX = ("-o", "APT::Sandbox::User=root")
_OWN_KERNEL = "give a kernel yourself: `--kernel /boot/vmlinuz-RELEASE`"


def unpacked_kernel(*, refresh: bool) -> Path:
    """The path of the distribution's kernel in the cache.

    A file in the cache names the current one: when it is there, the package client is not asked.

    :param refresh: ask all the same, for a newer one.
    :raises LabError: when there is no package client, no such package, or no way to download it.
    """
    index = cache_dir() / _KIND / "current.json"
    if not refresh and (known := _read_index(index)) is not None:
        return known
    kernel = _download(X86_64.kernel_package)
    _write_index(index, kernel)
    return kernel


def _read_index(index: Path) -> Path | None:
    try:
        path = index.parent / json.loads(index.read_text())[X86_64.kernel_package]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return path if path.is_file() else None


def _write_index(index: Path, kernel: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=index.parent, prefix=".current-")
    with os.fdopen(descriptor, "w") as file:
        json.dump({X86_64.kernel_package: str(kernel.relative_to(index.parent))}, file)
    Path(temporary).rename(index)


def _download(package: str) -> Path:
    for program in ("apt-get", "apt-cache", "dpkg-deb"):
        if shutil.which(program) is None:
            raise LabError(f"`{program}` is missing; it is needed to download the default kernel", hint=_OWN_KERNEL)
    print(f"downloading the kernel package of `{package}`", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="firstlight-kernel-") as folder:
        private = Path(folder)
        try:
            deb = _get(package, private, ())
        except _AptError:
            # No package lists, or outdated ones: fetch the lists anew, into the same private place.
            deb = _get_with_fresh_lists(package, private)
        digest = file_digest(deb)
        unpacked = entry(_KIND, digest, lambda path: _unpack(deb, path))
    kernels = sorted((unpacked / "boot").glob("vmlinuz-*"))
    if not kernels:
        raise LabError(f"the package `{deb.name}` holds no kernel", where=str(unpacked), hint=_OWN_KERNEL)
    return kernels[-1]


class _AptError(Exception):
    """The package client's own words."""


def _get_with_fresh_lists(package: str, private: Path) -> Path:
    lists = private / "lists"
    (lists / "partial").mkdir(parents=True)
    options = ("-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={private / 'cache'}")
    (private / "cache/archives/partial").mkdir(parents=True)
    try:
        _apt(["apt-get", *options, *_SANDBOX, "update"], private)
        return _get(package, private, options)
    except _AptError as error:
        raise LabError(
            f"the default kernel, package `{package}`, cannot be downloaded: {error}",
            hint=f"`apt-get update` may help; or {_OWN_KERNEL}",
        ) from error


def _get(package: str, private: Path, options: Sequence[str]) -> Path:
    """Download the kernel that a package of no content of its own depends on."""
    answer = _apt(["apt-cache", *options, "depends", package], private)
    images = re.findall(r"^ *\|?Depends: (linux-image-[a-z0-9.+-]+)$", answer, re.MULTILINE)
    if not images:
        raise _AptError(f"no package `{package}` is known")
    _apt(["apt-get", *options, *_SANDBOX, "download", images[0]], private)
    debs = list(private.glob("*.deb"))
    if not debs:
        raise _AptError(f"`{images[0]}` was not downloaded")
    return debs[0]


def _apt(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "LC_ALL": "C"}
    run = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if line.startswith("E:")]
        raise _AptError("; ".join(line[2:].strip() for line in lines) or f"`{command[0]}` failed")
    return run.stdout


def _unpack(deb: Path, path: Path) -> None:
    run = subprocess.run(["dpkg-deb", "-x", str(deb), str(path)], capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        raise LabError(f"cannot unpack the kernel package: {run.stderr.strip()}", where=str(deb))
