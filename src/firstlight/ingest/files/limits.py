"""How much of what is given is taken in: input is hostile."""

from __future__ import annotations

from dataclasses import dataclass, field

from firstlight.errors import FirstlightError


class IngestError(FirstlightError):
    """What was given is not a boot record, or cannot be read."""


@dataclass(frozen=True)
class InputLimits:
    """The most that one import takes."""

    files: int = 20_000
    """Files in folders and archives, all together."""
    bytes: int = 64 << 30
    """Content, unpacked, all together."""
    ratio: int = 400
    """Times the size of what it was packed into; boot logs reach 50."""
    packed_free: int = 64 << 20
    """Bytes below which the ratio does not count."""
    archives: int = 2
    """Archives within one another: one, and one in it."""


@dataclass
class Budget:
    """What is left of the limits.

    >>> budget = Budget(InputLimits(files=1))
    >>> budget.file("a.log")
    >>> budget.file("b.log")
    Traceback (most recent call last):
    firstlight.ingest.files.limits.IngestError: b.log: there are more than 1 files
    """

    limits: InputLimits = field(default_factory=InputLimits)
    files: int = 0
    bytes: int = 0

    def file(self, where: str) -> None:
        """Count a file.

        :raises IngestError: when there are too many.
        """
        self.files += 1
        if self.files > self.limits.files:
            raise IngestError(f"there are more than {self.limits.files:,} files", where=where, hint="give fewer")

    def content(self, size: int, where: str) -> None:
        """Count bytes of content.

        :raises IngestError: when there are too many.
        """
        self.bytes += size
        if self.bytes > self.limits.bytes:
            amount = f"{self.limits.bytes >> 30} GiB"
            raise IngestError(f"the input unpacks to more than {amount}", where=where, hint="give less at once")

    def unpacked(self, size: int, packed: int, where: str) -> None:
        """Check how far *packed* bytes have grown.

        :raises IngestError: when no honest record grows so.
        """
        if size > self.limits.packed_free and size > packed * self.limits.ratio:
            message = f"it unpacks to more than {self.limits.ratio} times its size: it looks like a decompression bomb"
            raise IngestError(message, where=where, hint="if you trust it, unpack it by hand")
