"""Signatures of jobs and results: Ed25519 (RFC 8032), by the package `cryptography`.

A machine with a key signs what it uploads. A machine with a list of trusted keys accepts only jobs and results with
their signatures. Keys and lists are not in the store, so write access to the store gives no trust.
"""

from __future__ import annotations

import base64
import json
import os
import re
import socket
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from firstlight.errors import LabError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

VARIABLE = "FIRSTLIGHT_FARM_KEYS"
"""The environment variable with the directory of the keys."""
OWN = "own.key"
TRUSTED = "trusted"
_FIELD = "signature"
_CONTEXT = b"firstlight-farm\0"
_HEX = re.compile(r"[0-9a-f]{64}")

Kind = Literal["job", "result"]


def keys_directory() -> Path:
    """Where the keys of this machine are: ``$FIRSTLIGHT_FARM_KEYS``, else ``~/.config/firstlight/farm``."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "firstlight" / "farm"


@dataclass(frozen=True)
class Keys:
    """The key that this machine signs with, and the keys that it trusts.

    >>> keys = Keys(b"k" * 32, {})
    >>> signed = keys.signed("job", {"key": "a"})
    >>> Keys(None, {keys.public: "lab1"}).objection("job", signed) is None
    True
    >>> Keys(None, {keys.public: "lab1"}).objection("job", signed | {"key": "b"})
    'its signature is invalid'
    """

    own: bytes | None = None
    """The private key, 32 bytes."""
    trusted: dict[str, str] = field(default_factory=dict)
    """Names by public keys in hexadecimal; an empty list trusts every key."""

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        assert self.own is not None
        made: Ed25519PrivateKey = _ed25519().Ed25519PrivateKey.from_private_bytes(self.own)
        return made

    @cached_property
    def public(self) -> str:
        """The public key of this machine, in hexadecimal."""
        return self._private.public_key().public_bytes_raw().hex()

    def signed(self, kind: Kind, data: dict[str, Any]) -> dict[str, Any]:
        """An object with its signature; without a key, the object itself."""
        if self.own is None:
            return data
        signature = self._private.sign(_message(kind, data))
        return data | {_FIELD: {"key": self.public, "value": base64.b64encode(signature).decode()}}

    def trusts(self, kind: Kind, data: dict[str, Any]) -> bool:
        """Whether this machine, or one that it trusts, signed an object."""
        known = self.trusted | ({self.public: "own"} if self.own is not None else {})
        return Keys(None, known).objection(kind, data) is None

    def objection(self, kind: Kind, data: dict[str, Any]) -> str | None:
        """Why an object is rejected; `None` when a trusted key signed it, or no signature is required."""
        if not self.trusted:
            return None
        signature = data.get(_FIELD)
        if not isinstance(signature, dict):
            return "it is not signed"
        public = signature.get("key")
        if public not in self.trusted and (self.own is None or public != self.public):
            return "its key is not trusted here"
        ed25519 = _ed25519()
        from cryptography.exceptions import InvalidSignature

        try:
            value = base64.b64decode(str(signature.get("value")), validate=True)
            ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(value, _message(kind, data))
        except (InvalidSignature, ValueError):
            return "its signature is invalid"
        return None


def unsigned(data: dict[str, Any]) -> dict[str, Any]:
    """An object without its signature."""
    return {name: value for name, value in data.items() if name != _FIELD}


def read_keys(directory: Path | None = None) -> Keys:
    """The keys of this machine; none where it has none.

    :param directory: :func:`keys_directory` by default.
    :raises LabError: for a malformed file, or a private key that other users can read.
    """
    directory = directory or keys_directory()
    own = trusted = None
    try:
        path = directory / OWN
        if path.exists():
            if path.stat().st_mode & 0o077:
                raise LabError("other users can read this private key", where=str(path), hint=f"`chmod 600 {path}`")
            own = path.read_text(encoding="ascii").strip()
            if not _HEX.fullmatch(own):
                raise LabError("this is not a private key of a farm", where=str(path), hint="`firstlight farm key`")
        path = directory / TRUSTED
        if path.exists():
            trusted = _read_trusted(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise LabError(f"the keys of the farm cannot be read: {reason}", where=str(directory)) from error
    return Keys(bytes.fromhex(own) if own else None, trusted or {})


def _read_trusted(path: Path) -> dict[str, str]:
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.partition("#")[0].split()
        if not text:
            continue
        if len(text) != 2 or not _HEX.fullmatch(text[1]):
            hint = "each line is `NAME KEY`, as `firstlight farm key` prints it"
            raise LabError(f"line {number} has no key", where=str(path), hint=hint)
        found[text[1]] = text[0]
    if not found:
        # An empty list would trust every key, which is not what its author intended.
        raise LabError("this list of trusted keys is empty", where=str(path), hint="add a key, or remove the file")
    return found


def make_key(directory: Path | None = None) -> tuple[str, str]:
    """Make the key of this machine, unless it has one.

    :returns: the name of this machine and its public key, which other machines add to their lists.
    :raises LabError: when it cannot be written.
    """
    directory = directory or keys_directory()
    keys = read_keys(directory)
    if keys.own is None:
        made = _ed25519().Ed25519PrivateKey.generate().private_bytes_raw()
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(directory / OWN, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(made.hex() + "\n")
        except OSError as error:
            raise LabError(f"the key cannot be written: {error.strerror}", where=str(directory / OWN)) from error
        keys = Keys(made, keys.trusted)
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", socket.gethostname()) or "machine", keys.public


def _message(kind: Kind, data: dict[str, Any]) -> bytes:
    """The signed bytes: the kind, and the object as JSON with sorted names and without spaces."""
    text = json.dumps(unsigned(data), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return _CONTEXT + kind.encode() + b"\0" + text.encode()


def _ed25519() -> Any:
    from cryptography.hazmat.primitives.asymmetric import ed25519

    return ed25519
