"""The kernels of the corpus: downloaded by the package client from a private list of archives, and unpacked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight.errors import LabError
from firstlight.lab.host.apt import downloaded, unpack

_LIST = Path(__file__).with_name("kernels.toml")


@dataclass(frozen=True)
class _Archive:
    """The lists of an archive, in a directory of its own: the host's lists are neither read nor changed."""

    directory: Path
    keyring_from: Mapping[str, str]
    """A package of the host's, or a file of the mirror with its digest."""
    keyring: str
    sources: Sequence[str]
    packages: Sequence[str]

    def update(self) -> None:
        """Fetch the lists."""
        for name in ("lists/partial", "cache/archives/partial", "packages"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        mirror = _mirror(self.directory.name)
        keys = self.directory / "keys"
        if not keys.exists():
            self._fetch_keys(keys, mirror)
        signed = f"[arch=amd64 signed-by={keys / self.keyring}]"
        lines = "".join(f"deb {signed} {mirror}/{source}\n" for source in self.sources)
        (self.directory / "sources.list").write_text(lines)
        self._run("apt-get", "update")

    def _fetch_keys(self, keys: Path, mirror: str) -> None:
        if package := self.keyring_from.get("package"):
            with downloaded(package, "the archive's keys", "install it") as deb:
                unpack(deb, keys)
            return
        deb = self.directory / "keys.deb"
        digest = f"SHA256:{self.keyring_from['sha256']}"
        self._run("/usr/lib/apt/apt-helper", "download-file", f"{mirror}/{self.keyring_from['file']}", str(deb), digest)
        unpack(deb, keys)
        deb.unlink()

    def newest(self, pattern: str) -> str:
        """The package whose name matches and has the highest numbers.

        :raises LabError: when there is none.
        """
        found = self._run("apt-cache", "search", "--names-only", f"^{pattern.replace(chr(92) + 'd', '[0-9]')}$")
        names = sorted((line.split()[0] for line in found.splitlines()), key=_numbers)
        if not names:
            raise LabError(f"the archive has no package like `{pattern}`")
        return names[-1]

    def fetch(self, package: str) -> Path:
        """The kernel's file in the package, downloaded once."""
        place = self.directory / "packages" / package
        if not place.exists():
            self._run("apt-get", "download", package, folder=place.parent)
            [deb] = place.parent.glob(f"{package}_*.deb")
            unpack(deb, place)
            deb.unlink()
        return next(path for path in sorted(place.rglob("vmlinuz*")) if path.is_file())

    def _run(self, *words: str, folder: Path | None = None) -> str:
        options = {
            "Dir::State::lists": self.directory / "lists",
            "Dir::Cache": self.directory / "cache",
            "Dir::Etc::sourcelist": self.directory / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
        }
        command = [words[0], *(word for key, value in options.items() for word in ("-o", f"{key}={value}")), *words[1:]]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if run.returncode:
            raise LabError(f"`{' '.join(words)}` failed: {run.stderr.strip().splitlines()[-1:]}")
        return run.stdout


def _mirror(name: str) -> str:
    """The address of a distribution's mirror: `MIRROR_NAME` of the environment, else that of the host's own lists.

    :raises LabError: when neither has one.
    """
    given = os.environ.get(f"MIRROR_{name.upper()}")
    if given:
        return given.rstrip("/")
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
    known = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    for uri in sorted(set(known)):
        base, _, directory = uri.rstrip("/").rpartition("/")
        if directory == name:
            return base
    raise LabError(f"no mirror of {name} is known", hint=f"set MIRROR_{name.upper()} to its address")


@dataclass(frozen=True)
class Kernel:
    """A kernel of the list."""

    archive: str
    place: int
    """Its number in the list of its archive, which stays the same where others cannot be had."""
    name: str
    image: Path


def kernels(directory: Path) -> Iterator[Kernel]:
    """Each kernel of the list; one that cannot be had is printed and left out."""
    for name, stored in tomllib.loads(_LIST.read_text())["archives"].items():
        archive = _Archive(directory / name, **stored)
        try:
            archive.update()
        except LabError as error:
            print(f"not to be had: {len(archive.packages)} kernels of {name}: {error}", file=sys.stderr)
            continue
        for place, pattern in enumerate(archive.packages):
            try:
                package = archive.newest(pattern)
                short = re.sub(r"^linux-(image-unsigned|image|binary)-", "", package)
                yield Kernel(name, place, short, archive.fetch(package))
            except LabError as error:
                print(f"not to be had: {error}", file=sys.stderr)


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]
