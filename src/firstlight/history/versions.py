"""The versions that a bisection boots: commits of a git repository, versions of a Debian package, or a list."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from firstlight.errors import LabError, UsageError

#: A version is a word of commands and the name of a directory.
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:~+_-]{0,199}")


class BuildError(Exception):
    """A version cannot be made: the bisection goes around it."""


class Versions(Protocol):
    """Where versions come from."""

    def names(self) -> list[str]:
        """All of them, the good one first."""
        ...

    def prepare(self, version: str, work: Path) -> Path:
        """Put the files of a version into a directory below *work*.

        :raises BuildError: when that fails for this version.
        """
        ...


@dataclass(frozen=True)
class GitVersions:
    """The commits of a range, along first parents; the range's start is the good one.

    One work tree serves all of them, so that a build makes again only what changed.
    """

    repository: Path
    range: str

    def names(self) -> list[str]:
        """The commits, the good one first.

        :raises UsageError: when the range has none.
        """
        good, dots, bad = self.range.partition("..")
        if not dots or not good or not bad or bad.startswith("."):
            raise UsageError(
                f"`{self.range}` is not a range", where="--git", hint="write `GOOD..BAD`, for example `v1..v2`"
            )
        first = self._git("rev-parse", "--verify", "--end-of-options", f"{good}^{{commit}}").strip()
        last = self._git("rev-parse", "--verify", "--end-of-options", f"{bad}^{{commit}}").strip()
        listed = self._git("rev-list", "--first-parent", "--reverse", f"{first}..{last}").split()
        return [first, *listed]

    def prepare(self, version: str, work: Path) -> Path:
        """The work tree, with the files of a commit."""
        tree = work / "tree"
        if not tree.exists():
            self._git("worktree", "prune")
            self._git("worktree", "add", "--detach", "--force", str(tree.absolute()), version)
        try:
            self._git("checkout", "--quiet", "--detach", "--force", version, directory=tree)
        except UsageError as error:
            raise BuildError(error.message) from error
        return tree

    def subject(self, version: str) -> str:
        """The first line of a commit's message."""
        return self._git("log", "-1", "--format=%s", version).strip()

    def _git(self, *words: str, directory: Path | None = None) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", str(directory or self.repository), *words], capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            raise LabError("`git` is not installed", hint="`apt install git`") from error
        if done.returncode:
            message = (done.stderr.strip().splitlines() or ["git failed"])[-1]
            raise UsageError(message[:300], where=str(self.repository), hint="`git log GOOD..BAD` must list commits")
        return done.stdout


@dataclass(frozen=True)
class ListedVersions:
    """Versions that a build command makes; of a Debian package, `apt-get download` makes them."""

    listed: Sequence[str]
    package: str | None = None

    def names(self) -> list[str]:
        """The versions, the good one first.

        :raises UsageError: for what cannot be a version or a package.
        """
        for text in (*self.listed, *([self.package] if self.package is not None else [])):
            if not _VERSION.fullmatch(text):
                raise UsageError(f"`{text[:80]}` is not a version", hint="letters, digits and `. : ~ + _ -`")
        return list(dict.fromkeys(self.listed))

    def prepare(self, version: str, work: Path) -> Path:
        """A directory of its own, with the contents of the package if there is one."""
        folder = work / f"version-{version.replace(':', '_')}"
        if self.package is None:
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        if not folder.exists():
            self._unpack(version, folder)
        return folder

    def _unpack(self, version: str, folder: Path) -> None:
        downloads = folder.with_name(f"{folder.name}.download")
        shutil.rmtree(downloads, ignore_errors=True)
        downloads.mkdir(parents=True)
        try:
            _run(["apt-get", "download", f"{self.package}={version}"], downloads)
            (archive,) = downloads.glob("*.deb")
            _run(["dpkg-deb", "-x", archive.name, "contents"], downloads)
            (downloads / "contents").rename(folder)
        finally:
            shutil.rmtree(downloads, ignore_errors=True)


def build(command: str, version: str, folder: Path) -> None:
    """Run the user's build command in the directory of a version; `VERSION` is in its environment.

    :raises BuildError: when it fails; the message is the last line that it printed.
    """
    _run(["sh", "-c", command], folder, {**os.environ, "VERSION": version})


def _run(words: Sequence[str], directory: Path, environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            list(words), cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        raise BuildError(f"`{words[0]}`: {error.strerror}") from error
    if done.returncode:
        last = (done.stdout.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise BuildError(f"`{words[0]}` failed: {last[:200]}")
