"""The texts and attachments of mails whose transfer encodes them, or that have several parts."""

from __future__ import annotations

import io
import mailbox
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from functools import partial
from pathlib import Path, PurePosixPath

from firstlight.ingest.files.collected import LeftOut
from firstlight.ingest.files.limits import Budget
from firstlight.ingest.files.names import readable, safe_name
from firstlight.ingest.unpack.salvage import Salvaged

#: A part of a mail is decoded in memory; records in mails are some megabytes.
_LARGEST_BYTES = 64 << 20


def mail_members(path: Path, where: str, budget: Budget, left: LeftOut) -> Iterator[tuple[str, Salvaged]]:
    """The parts of a mail, or of all mails of a mailbox, one after the other, without their transfer encoding.

    Of a part that is there in several types, such as text and HTML, the text is taken. Pictures are left out.

    :param where: what an error names.
    :raises ValueError: of a mail that is larger than 64 MiB.
    """
    if path.stat().st_size > _LARGEST_BYTES:
        raise ValueError(f"the mail has more than {_LARGEST_BYTES >> 20} MiB: save its attachments as files")
    several = _messages(path)
    for number, message in enumerate(several, 1):
        folder = f"{number}/" if len(several) > 1 else ""
        for part in _parts(message, left):
            budget.file(where)
            content = part.get_payload(decode=True)
            if not isinstance(content, bytes) or not content.strip():
                continue
            given = part.get_filename()
            name = safe_name(PurePosixPath(given).name) if given else None
            yield f"{folder}{name or 'text.txt'}", Salvaged(partial(io.BytesIO, content))


def _messages(path: Path) -> list[Message]:
    parser = BytesParser()
    with path.open("rb") as file:
        if file.read(5) != b"From ":
            file.seek(0)
            return [parser.parse(file)]
    box = mailbox.mbox(path, create=False)
    try:
        return [parser.parsebytes(box.get_bytes(key)) for key in box.keys()]  # noqa: SIM118, a mailbox is not a mapping
    finally:
        box.close()


def _parts(message: Message, left: LeftOut) -> Iterator[Message]:
    """The parts that may hold a record."""
    if not message.is_multipart():
        if message.get_content_maintype() in ("image", "audio", "video"):
            left.nothing(readable(message.get_filename() or "a part"), f"it is {message.get_content_type()}")
        else:
            yield message
        return
    # Typed as text, too, which it is only where there is one part.
    parts = [part for part in message.get_payload() if isinstance(part, Message)]
    if message.get_content_subtype() == "alternative":
        parts = [part for part in parts if part.get_content_type() == "text/plain"] or parts
    for part in parts:
        yield from _parts(part, left)
