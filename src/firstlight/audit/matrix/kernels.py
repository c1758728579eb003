"""The kernels of the support matrix: the distribution's own, the next stable one, and the newest that is offered."""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight.cache import cache_dir, digest_of, entry, file_digest
from firstlight.errors import LabError
from firstlight.lab.host.apt import unpack
from firstlight.lab.host.tools import run_tool
from firstlight.lab.kernel.kernel import default_kernel, open_kernel
from firstlight.recipe.isa import DEFAULT

STABLE = "trixie"
"""The suite of the second kernel."""
OFFERING = (STABLE, f"{STABLE}-backports", "sid", "experimental")
"""The suites of which the newest kernel is taken."""
_KIND = "kernels"
_INDEX = "matrix-kernels.json"


@dataclass(frozen=True)
class Package:
    """A kernel's package as a suite offers it."""

    name: str
    version: str
    suite: str


def matrix_kernels(*, fresh: bool = False) -> list[tuple[Path, str]]:
    """The kernels of the matrix with their releases, from the cache; the first time they are downloaded.

    Packages are downloaded by the distribution's ordinary client, from suites beside the machine's own, and unpacked;
    nothing is installed and no list of the machine is touched.

    :param fresh: ask the suites again for their newest.
    :raises LabError: when there is no package client, or no way to download.
    """
    index = cache_dir() / _KIND / _INDEX
    paths = None if fresh else _read(index)
    if paths is None:
        default = default_kernel().path
        paths = list(dict.fromkeys([default, *_downloaded()]))
        index.parent.mkdir(mode=0o700, exist_ok=True)
        index.write_text(json.dumps([str(path) for path in paths]), encoding="utf-8")
    return [(path, open_kernel(path).release or path.name) for path in paths]


def _read(index: Path) -> list[Path] | None:
    try:
        paths = [Path(text) for text in json.loads(index.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return None
    return paths if paths and all(path.is_file() for path in paths) else None


def _downloaded() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="firstlight-apt-") as folder:
        client = _Client(Path(folder))
        offers = [offer for suite in OFFERING for offer in client.offers(DEFAULT.kernel_package, suite)]
        if not offers:
            raise LabError("no suite offers a kernel", hint="give kernels yourself: `--kernel PATH`")
        stable = [offer for offer in offers if offer.suite == STABLE]
        for offer in dict.fromkeys([*stable[:1], newest(offers)]):
            debs = client.download(offer)
            digest = digest_of("matrix", *(file_digest(deb) for deb in debs))
            path = entry(_KIND, digest, functools.partial(_unpack_all, debs))
            found = sorted([*path.glob("boot/vmlinuz-*"), *path.glob("usr/lib/modules/*/vmlinuz")])
            if not found:
                raise LabError(f"the packages of {offer.name} {offer.version} hold no kernel", where=str(path))
            yield found[-1]


def _unpack_all(debs: Sequence[Path], folder: Path) -> None:
    for deb in debs:
        unpack(deb, folder)


def newest(offers: Sequence[Package]) -> Package:
    """The offer with the highest version, by the distribution's own order.

    >>> newest([Package("k", version, "sid") for version in ("6.12.9-1", "6.12.10-1", "6.12.10~rc1-1")]).version
    '6.12.10-1'
    """

    def higher(one: Package, other: Package) -> int:
        if one.version == other.version:
            return 0
        run = subprocess.run(["dpkg", "--compare-versions", one.version, "gt", other.version], check=False)
        return 1 if run.returncode == 0 else -1

    return max(offers, key=functools.cmp_to_key(higher))


class _Client:
    """The package client with lists of its own, for suites beside the machine's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        archive = self._archive()
        sources = folder / "sources.list"
        sources.write_text("".join(f"deb {archive} {suite} main\n" for suite in OFFERING), encoding="utf-8")
        options = {
            "Dir::Etc::SourceList": sources,
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State::Lists": folder / "lists",
            "Dir::Cache": folder / "cache",
            "APT::Sandbox::User": "root",
        }
        self._options = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        self._run("apt-get", *self._options, "update")

    def _archive(self) -> str:
        """Where the machine's own client gets the distribution from."""
        lines = self._run("apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages")
        found = [line.split() for line in lines.splitlines()]
        # Suites such as NAME-security and NAME-updates may come from elsewhere.
        addresses = [words[1] for words in found if len(words) == 2 and "-" not in words[0]]
        if not addresses:
            raise LabError("the package client knows no archive", hint="give kernels yourself: `--kernel PATH`")
        return addresses[0]

    def offers(self, package: str, suite: str) -> Iterator[Package]:
        """What a suite offers under this name: the package that it stands for."""
        answer = self._run("apt-cache", *self._options, "madison", package)
        for line in answer.splitlines():
            words = [word.strip() for word in line.split("|")]
            if len(words) == 3 and f" {suite}/" in f" {words[2]}":
                yield Package(package, words[1], suite)

    def download(self, offer: Package) -> list[Path]:
        """The packages of a kernel: one, or from Linux 7 on more of the same release for its image and its modules."""
        images = [name for name in self._dependencies(offer.name, offer.version) if name.startswith("linux-image-")]
        if not images:
            raise LabError(f"the package `{offer.name}` {offer.version} names no kernel")
        image = images[0]
        release = image.removeprefix("linux-image-")
        parts = [name for name in self._dependencies(image, offer.version) if name.endswith(f"-{release}")]
        target = self._folder / offer.suite
        target.mkdir()
        for name in (image, *parts):
            self._run("apt-get", *self._options, "download", f"{name}={offer.version}", cwd=target)
        return sorted(target.glob("*.deb"))

    def _dependencies(self, package: str, version: str) -> list[str]:
        shown = self._run("apt-cache", *self._options, "show", f"{package}={version}")
        depends = [line for line in shown.splitlines() if line.startswith("Depends:")]
        return [word.split()[0] for line in depends for word in line.removeprefix("Depends:").split(",")]

    def _run(self, *command: str, cwd: Path | None = None) -> str:
        hint = "give kernels yourself: `--kernel PATH`"
        try:
            run = run_tool(command, folder=cwd)
        except OSError as error:
            raise LabError(f"`{command[0]}` is missing; it is needed to download kernels", hint=hint) from error
        if run.returncode != 0:
            said = [line for line in run.stderr.splitlines() if line.startswith("E:")]
            raise LabError(f"kernels cannot be downloaded: {'; '.join(said) or command[0] + ' failed'}", hint=hint)
        return run.stdout
