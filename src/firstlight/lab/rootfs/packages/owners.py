"""The owners of files, whatever the package manager."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

#: Directories that are a link to their name below `/usr` on most systems, and are listed by either name.
_MERGED = re.compile(r"^/(?:usr/)?((?:s?bin|lib(?:32|64|x32)?)/.*)$", re.DOTALL)
_DELETED = " (deleted)"


class Package(NamedTuple):
    """One installed package."""

    name: str
    version: str | None


@dataclass
class Owners:
    """Every installed file with its package."""

    manager: str
    """`dpkg`, `rpm`, `apk`, `opkg` or `pacman`."""
    files: dict[str, Package] = field(default_factory=dict)

    @property
    def packages(self) -> int:
        """How many packages own files."""
        return len({package.name for package in self.files.values()})

    def without_folders(self) -> Owners:
        """The same without the folders that packages list, too: many packages share them.

        >>> shared = {"/etc": Package("b", None), "/etc/a": Package("a", None)}
        >>> list(Owners("dpkg", shared).without_folders().files)
        ['/etc/a']
        """
        folders = {path.rpartition("/")[0] for path in self.files}
        return Owners(self.manager, {path: each for path, each in self.files.items() if path not in folders})

    def owner(self, path: str) -> Package | None:
        """The package of a file, also of one that was deleted while it ran; nothing for a file of no package.

        A path is found as the package lists it, and in a system with a merged `/usr` by its other name.

        >>> owners = Owners("dpkg", {"/bin/cat": Package("coreutils", "9.1-1"), "/etc/cat": Package("cat", None)})
        >>> owners.owner("/usr/bin/cat").name, owners.owner("/bin/cat (deleted)").name, owners.owner("/usr/etc/cat")
        ('coreutils', 'coreutils', None)
        """
        for name in dict.fromkeys((path, path.removesuffix(_DELETED))):
            merged = _MERGED.match(name)
            others = (f"/{merged[1]}", f"/usr/{merged[1]}") if merged else ()
            for each in (name, *others):
                if (package := self.files.get(each)) is not None:
                    return package
        return None
