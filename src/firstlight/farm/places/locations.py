"""From a location as a user writes it to a place."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from firstlight.errors import UsageError
from firstlight.farm.places.behind_ssh import BehindSsh, ssh_command
from firstlight.farm.places.directory import Directory
from firstlight.farm.places.objects import PACKAGES, Objects
from firstlight.farm.places.place import Place

_OF_A_DIRECTORY = ("store://", "file://")
_SSH = ("sftp", "ssh")
_PLAIN = re.compile(r"[A-Za-z0-9_./~+=:@-]+")


def place_at(location: str | os.PathLike[str]) -> Place:
    """The place of a store.

    :param location: a directory, perhaps with `store://`; `s3://`, `gs://` or `az://` with bucket and prefix;
        `sftp://[USER@]HOST[:PORT]/DIRECTORY`.
    :raises UsageError: for another scheme, one whose package is missing, or a location with a secret in it.

    >>> place_at("store:///mnt/farm").where
    '/mnt/farm'
    >>> place_at("s3://key:secret@bucket/farm")
    Traceback (most recent call last):
    firstlight.errors.UsageError: a location of a store has no password
    """
    text = os.fspath(location)
    for each in _OF_A_DIRECTORY:
        text = text.removeprefix(each)
    if "://" not in text:
        return Directory(Path(text).absolute())
    parts = urlsplit(text)
    scheme = parts.scheme
    if scheme not in PACKAGES and scheme not in _SSH:
        known = "a directory, `s3://`, `gs://`, `az://` or `sftp://`"
        raise UsageError(f"a store cannot be at `{scheme}://`", hint=f"use {known}")
    if parts.password is not None or parts.query or parts.fragment or (scheme not in _SSH and parts.username):
        # The location is printed and passed on: the value is not repeated here.
        hint = "credentials come from the environment or the configuration of the store's own tools"
        raise UsageError("a location of a store has no password", hint=hint)
    rest = f"{parts.netloc}{parts.path}"
    if not _PLAIN.fullmatch(rest) or ".." in rest.split("/") or rest.startswith("-"):
        raise UsageError(
            "this is not a location of a store", where=text, hint="`s3://BUCKET/PREFIX`, `sftp://HOST/DIR`"
        )
    if scheme not in _SSH:
        return Objects(scheme, rest)
    try:
        port = parts.port
    except ValueError as error:
        raise UsageError("this port is not a number", where=text) from error
    if not parts.hostname or len(parts.path) < 2:
        raise UsageError("a host and a directory are needed", where=text, hint="`sftp://lab2/srv/farm`")
    return BehindSsh(ssh_command(parts.hostname, parts.username, port), parts.path.rstrip("/"), text)
