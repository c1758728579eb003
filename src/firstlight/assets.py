"""The files built outside Python that an installed Firstlight contains."""

from __future__ import annotations

from pathlib import Path

from firstlight.errors import LabError

#: Every bundled file: what it is.
ASSETS = {
    "firstlight-plugin.so": "the plugin that QEMU loads",
    "firstlight-oracle.so": "the second observer, for `firstlight audit`",
    "firstlight-storage.so": "the disk with a model, for `firstlight record --storage`",
    "firstlight-guest": "the first process of the guest",
    "firstlight-guest-aarch64": "the same for guests on aarch64",
    "firstlight-guest-arm": "the same for guests on 32-bit arm",
    "firstlight-guest-mips64el": "the same for guests on mips64el",
    "firstlight-guest-ppc64le": "the same for guests on ppc64le",
    "firstlight-guest-riscv64": "the same for guests on riscv64",
    "firstlight-walk": "the runner of tree walks in the guest",
    "firstlight-walk-aarch64": "the same for guests on aarch64",
    "firstlight-restat.so": "the library that adds a stat for each directory",
    "firstlight-restat-aarch64.so": "the same for guests on aarch64",
    "page.html": "the report page",
    "firstlight-collect.sh": "the collector that runs on any system",
    "firstlight-collect.service": "its unit for systemd",
}

_FOLDER = Path(__file__).parent / "assets"


def asset_path(name: str) -> Path:
    """Find a bundled file.

    :param name: one of :data:`ASSETS`.
    :raises LabError: when it is not there, which happens in a checkout that was not built,
        and in a wheel that only reads boots.

    >>> from firstlight.errors import LabError
    >>> try:
    ...     asset_path("nothing")
    ... except LabError as error:
    ...     print(error.hint)
    run `make build`; a wheel that only reads boots does not contain it
    """
    path = _FOLDER / name
    if not path.is_file():
        what = ASSETS.get(name, "a bundled file")
        hint = "run `make build`; a wheel that only reads boots does not contain it"
        raise LabError(f"`{name}`, {what}, is missing", where=str(path), hint=hint)
    return path
