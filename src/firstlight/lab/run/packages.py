"""The packages of the files that a boot named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.errors import LabError
from firstlight.lab.rootfs.packages.owners import Owners
from firstlight.lab.rootfs.packages.read import package_owners
from firstlight.lab.run.tables import write_rows

if TYPE_CHECKING:
    import polars as pl

#: Facts of the package database that was read.
MANAGER, INSTALLED = "packages.manager", "packages.installed"


def tables_from_packages(root: Path | None, bundle: Path) -> list[tuple[str, str]]:
    """Write which package each file belongs to that a process ran or named, by the database of the root.

    :param root: the image that was booted, if there was one.
    :returns: facts of the database; none without one.
    """
    from firstlight.bundle.tables import read_table  # late: see `firstlight.lab.run.record`

    images, calls = read_table(bundle, "images")["image"], read_table(bundle, "system_calls")["path"]
    code = read_table(bundle, "user_functions")["file"]
    owners = None
    if root is not None and not images.is_empty():
        try:
            owners = package_owners(root)
        except LabError:  # an image of another file system, whose database is not read
            owners = None
    rows = (
        []
        if owners is None
        else package_rows([name for names in (images, calls, code) for name in names.drop_nulls().unique()], owners)
    )
    write_rows("packages", ("path", "package", "version"), rows, bundle)
    return [] if owners is None else [(MANAGER, owners.manager), (INSTALLED, str(owners.packages))]


def package_rows(paths: list[str], owners: Owners) -> list[tuple[str, str, str | None]]:
    """Path, package and version of each path that a package owns, in order of the paths.

    >>> from firstlight.lab.rootfs.packages.owners import Package
    >>> package_rows(["/init", "/bin/sh"], Owners("dpkg", {"/bin/sh": Package("dash", "0.5")}))
    [('/bin/sh', 'dash', '0.5')]
    """
    found = ((path, owners.owner(path)) for path in sorted(set(paths)) if path.startswith("/"))
    return [(path, *package) for path, package in found if package is not None]


def packages_of_root(files: list[str], root: Path) -> pl.DataFrame:
    """The table `packages` for the files of a boot, by the database of a root that is at hand.

    :param files: paths of the boot.
    :raises LabError: when the root cannot be read or has no package database.
    """
    import polars as pl

    from firstlight.bundle.tables import SCHEMAS

    if (owners := package_owners(root)) is None:
        raise LabError(
            "this root file system has no package database that is known",
            where=str(root),
            hint="Firstlight reads those of dpkg, rpm (SQLite), apk, opkg and pacman",
        )
    return pl.DataFrame(package_rows(files, owners), SCHEMAS["packages"], orient="row")
