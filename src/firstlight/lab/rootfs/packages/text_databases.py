"""Package databases that are text: dpkg, opkg, apk, pacman."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from firstlight.lab.rootfs.packages.owners import Owners, Package

_PARAGRAPH = re.compile(r"\n{2,}")


def dpkg(folder: Path) -> Owners:
    """Read `/var/lib/dpkg` or opkg's folder of the same form.

    A file that a package diverts is the diverting package's; the other package's is at the name that it was moved to
    (`dpkg-divert(1)`).

    :param folder: with `status`, `info/*.list` and maybe `diversions`.
    """
    versions = dict(_installed(_text(folder / "status")))
    owners = Owners("dpkg")
    moved = _diversions(_text(folder / "diversions"))
    for listing in sorted((folder / "info").glob("*.list")):
        name = listing.name.removesuffix(".list").partition(":")[0]
        package = Package(name, versions.get(name))
        for line in _text(listing).split("\n"):
            path = line.partition("\t")[0]  # opkg: the mode follows
            if not path.startswith("/"):
                continue
            to, by = moved.get(path, (path, name))
            owners.files[path if name == by else to] = package
    return owners


def opkg(folder: Path) -> Owners:
    """Read `/usr/lib/opkg` or `/var/lib/opkg`, which have dpkg's form."""
    return Owners("opkg", dpkg(folder).files)


def apk(folder: Path) -> Owners:
    """Read `/lib/apk/db`: `installed` has a paragraph for each package, with `P:` its name, `V:` version, `F:` a folder
    and `R:` each file in it."""
    owners = Owners("apk")
    for paragraph in _PARAGRAPH.split(_text(folder / "installed")):
        name, version, below = "", None, ""
        for line in paragraph.split("\n"):
            key, _, value = line.partition(":")
            match key:
                case "P":
                    name = value
                case "V":
                    version = value
                case "F":
                    below = f"/{value}" if value else ""
                case "R" if name:
                    owners.files[f"{below}/{value}"] = Package(name, version)
    return owners


def pacman(folder: Path) -> Owners:
    """Read `/var/lib/pacman`: `local` has a folder for each package, with `desc` and `files`."""
    owners = Owners("pacman")
    for listing in sorted(folder.glob("local/*/files")):
        described = _sections(_text(listing.parent / "desc"))
        name, version = (next(iter(described.get(key, [])), None) for key in ("NAME", "VERSION"))
        for path in _sections(_text(listing)).get("FILES", []) if name else []:
            if not path.endswith("/"):
                owners.files[f"/{path}"] = Package(name or "", version)
    return owners


def _text(path: Path) -> str:
    """A file of the database, which may be missing or damaged; a link may lead out of the root, and is none."""
    try:
        return "" if path.is_symlink() else path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _installed(status: str) -> Iterator[tuple[str, str]]:
    for paragraph in _PARAGRAPH.split(status):
        fields = dict(line.split(": ", 1) for line in paragraph.split("\n") if ": " in line and line[0] != " ")
        if "Package" in fields and "Version" in fields:
            yield fields["Package"], fields["Version"]


def _diversions(text: str) -> dict[str, tuple[str, str]]:
    """What was moved, where to, and by which package: three lines each."""
    lines = text.split("\n")
    return {start: (to, by) for start, to, by in zip(lines[::3], lines[1::3], lines[2::3], strict=False)}


def _sections(text: str) -> dict[str, list[str]]:
    """The lines below each `%NAME%`."""
    found: dict[str, list[str]] = {}
    below: list[str] = []
    for line in text.split("\n"):
        if len(line) > 2 and line.startswith("%") and line.endswith("%"):
            below = found.setdefault(line[1:-1], [])
        elif line:
            below.append(line)
    return found
