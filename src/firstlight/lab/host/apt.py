"""Packages of the distribution, downloaded by its ordinary client and read without installing them."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from firstlight.errors import LabError, is_full
from firstlight.lab.host.tools import run_tool

#: As root the client would otherwise complain that its own user cannot write into a private directory.
_SANDBOX = ("-o", "APT::Sandbox::User=root")
#: Where Debian's own machines have the keys of its releases.
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class _AptError(Exception):
    """The package client's own words."""


@contextmanager
def downloaded(
    package: str,
    what: str,
    instead: str,
    *,
    depended_on: str | None = None,
    architecture: str | None = None,
    release: str | None = None,
) -> Iterator[Path]:
    """Download a package into a private place, for as long as the context lasts.

    :param package: its name.
    :param what: what it is for, for messages.
    :param instead: what the user may do when it cannot be had.
    :param depended_on: the package has no content of its own; what is wanted is the one that it depends on, and whose
        name this pattern matches.
    :param architecture: the distribution's name of another architecture than this machine's. The lists of its packages
        are fetched into the private place, so that nothing changes on this machine.
    :param release: the name of the release of Debian that is asked where this machine's own release does not have the
        package for that architecture, on the servers that this machine uses.
    :returns: the package's file.
    :raises LabError: when there is no package client, no such package, or no way to download it.
    """
    _require_programs(("apt-get", "apt-cache", "dpkg-deb"), what, instead)
    print(f"downloading {what}, package `{package}`", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="firstlight-apt-") as folder:
        private = Path(folder)
        try:
            # The lists of this machine are for its own architecture.
            options = () if architecture is None else _fresh_lists(private, architecture)
            deb = _download(package, private, options, depended_on)
        except _AptError:
            # No package lists, outdated ones, or those of a release without it: fetch lists anew, into the same place.
            try:
                deb = _download(package, private, _fresh_lists(private, architecture, release), depended_on)
            except _AptError as error:
                raise LabError(
                    f"{what}, package `{package}`, cannot be downloaded: {error}",
                    hint=f"`apt-get update` may help; or {instead}",
                ) from error
        yield deb


@contextmanager
def downloaded_source(package: str, version: str, what: str, instead: str) -> Iterator[Path]:
    """Download the source of a package into a private place, and unpack it with the distribution's changes.

    :param package: the name of the source package.
    :param version: its version.
    :param what: what it is, for messages.
    :param instead: what the user may do when it cannot be had.
    :returns: the folder of the unpacked source, for as long as the context lasts.
    :raises LabError: when there is no package client, no such source, or no way to download it.
    """
    _require_programs(("apt-get", "dpkg-source"), what, instead)
    print(f"downloading {what}, source package `{package}` {version}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="firstlight-apt-") as folder:
        private = Path(folder)
        try:
            sources = private / "sources.list"
            sources.write_text("".join(f"{line}\n" for line in _own_sources(private)), encoding="utf-8")
            asked = ("-o", f"Dir::Etc::SourceList={sources}", "-o", "Dir::Etc::SourceParts=/dev/null")
            options = (*_private_lists(private), *asked, *_SANDBOX)
            with suppress(_AptError):
                # Some list may be out of step with its digest; the one with the source may not be.
                _apt(["apt-get", *options, "update"], private)
            _apt(["apt-get", *options, "--download-only", "source", f"{package}={version}"], private)
            descriptions = list(private.glob("*.dsc"))
            if not descriptions:
                raise _AptError(f"`{package}` was not downloaded")
            # apt has compared it with the signed list of the release.
            _apt(["dpkg-source", "--no-check", "-x", descriptions[0].name, "source"], private)
        except _AptError as error:
            message = f"{what}, source package `{package}` {version}, cannot be downloaded: {error}"
            raise LabError(message, hint=instead) from error
        yield private / "source"


def _require_programs(programs: Sequence[str], what: str, instead: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            raise LabError(f"`{program}` is missing; it is needed to download {what}", hint=instead)


def _own_sources(private: Path) -> list[str]:
    """The sources of this machine's packages, as lines that ask for the packages' sources."""
    wanted = "$(ORIGIN)\t$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)"
    asked = ["apt-get", "indextargets", "--format", wanted, "Created-By: Packages"]
    rows = dict.fromkeys(tuple(line.split("\t")) for line in _apt(asked, private).splitlines())
    keys = f"[signed-by={_KEYS}] " if _KEYS.is_file() else ""
    lines = [f"deb-src {keys}{row[1]} {row[2]} {row[3]}" for row in rows if len(row) == 4 and row[0] == "Debian"]
    if not lines:
        raise _AptError("this machine has no source of Debian's packages")
    return lines


def unpack(deb: Path, folder: Path) -> None:
    """Put the files of a package into a folder.

    :raises LabError: when that fails.
    :raises OSError: when there is no space.
    """
    run = run_tool(["dpkg-deb", "-x", str(deb), str(folder)])
    if run.returncode != 0:
        if is_full(OSError(run.stderr)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        # One line for each file, and what they come to.
        lines = run.stderr.strip().splitlines() or ["it does not say why"]
        raise LabError(f"cannot unpack the package: {lines[0]}", where=str(deb), hint="download it again")


def _private_lists(private: Path) -> tuple[str, ...]:
    lists = private / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    (private / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
    return ("-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={private / 'cache'}")


def _fresh_lists(private: Path, architecture: str | None, release: str | None = None) -> Sequence[str]:
    lists, options = private / "lists", _private_lists(private)
    if architecture is not None:
        # No package of this machine counts as installed.
        (private / "status").touch()
        options += ("-o", f"Dir::State::status={private / 'status'}")
        options += ("-o", f"APT::Architecture={architecture}", "-o", f"APT::Architectures={architecture}")
    if release is not None:
        sources = private / "sources.list"
        sources.write_text("".join(f"{line}\n" for line in _sources(private, release)), encoding="utf-8")
        options += ("-o", f"Dir::Etc::SourceList={sources}", "-o", "Dir::Etc::SourceParts=/dev/null")
    try:
        _apt(["apt-get", *options, *_SANDBOX, "update"], private)
    except _AptError:
        # The lists of one server may not fit their digests for a while, and those of the others have the package.
        if not any(lists.glob("*_Packages*")):
            raise
    return options


def _sources(private: Path, release: str) -> list[str]:
    """Where the servers that this machine asks for Debian's packages have another release of it."""
    asked = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)", "Created-By: Packages"]
    rows = [line.split(" ", 2) for line in _apt(asked, private).splitlines()]
    # Those of updates, and of fixes for security, have a suffix.
    servers = {row[2] for row in rows if len(row) == 3 and row[0] == "Debian" and "-" not in row[1]}
    if not servers:
        raise _AptError(f"this machine has no source of Debian's packages, so it has none for release {release}")
    keys = f"[signed-by={_KEYS}] " if _KEYS.is_file() else ""
    return [f"deb {keys}{server} {release} main" for server in sorted(servers)]


def _download(package: str, private: Path, options: Sequence[str], depended_on: str | None) -> Path:
    if depended_on is not None:
        answer = _apt(["apt-cache", *options, "depends", package], private)
        found = re.findall(rf"^ *\|?Depends: ({depended_on})$", answer, re.MULTILINE)
        if not found:
            raise _AptError(f"no package `{package}` is known")
        package = found[0]
    _apt(["apt-get", *options, *_SANDBOX, "download", package], private)
    debs = list(private.glob("*.deb"))
    if not debs:
        raise _AptError(f"`{package}` was not downloaded")
    return debs[0]


def _apt(command: list[str], folder: Path) -> str:
    run = run_tool(command, folder=folder)
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if line.startswith("E:")]
        raise _AptError("; ".join(line[2:].strip() for line in lines) or f"`{command[0]}` failed")
    return run.stdout
