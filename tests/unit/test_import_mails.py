"""Records in mails: as attachments, and in texts that the transfer encodes."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from firstlight.errors import FirstlightError
from imported_records import imported

_LOG = """\
[    0.000000] Linux version 6.1.0 (builder@host) (gcc 12) #1 SMP
[    0.000000] Command line: console=ttyS0 root=/dev/vda1 a.parameter.that.makes.the.line.longer.than.those.of.mails
[    1.500000] Run /sbin/init as init process
[    1.600000] systemd[1]: systemd 252 running in system mode
"""
_COMMAND_LINE = _LOG.splitlines()[1].partition(": ")[2]


def _mail(body: str, encoding: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "a slow boot"
    mail.set_content(body, cte=encoding)
    return mail


def _with_attachment() -> EmailMessage:
    mail = _mail("See the log.\n", "7bit")
    mail.add_attachment(_LOG.encode(), "application", "octet-stream", filename="dmesg.txt")
    return mail


def _with_html() -> EmailMessage:
    mail = _mail(_LOG, "quoted-printable")
    mail.add_alternative(f"<pre>{_LOG}</pre>", subtype="html", cte="base64")
    return mail


@pytest.mark.parametrize(
    ("mail", "file"),
    [
        pytest.param(_mail(_LOG, "quoted-printable"), "text.txt", id="quoted-printable"),
        pytest.param(_mail(_LOG, "base64"), "text.txt", id="base64"),
        pytest.param(_with_attachment(), "dmesg.txt", id="attachment"),
        pytest.param(_with_html(), "text.txt", id="text and HTML"),
    ],
)
def test_a_mail_is_read_without_its_encoding(tmp_path: Path, mail: EmailMessage, file: str) -> None:
    boot = imported(tmp_path, {"mail.eml": mail.as_string()})
    read = [source for source in boot.manifest.sources if source.format is not None]
    assert [source.file.rpartition("/")[2] for source in read] == [file]
    assert dict(boot.facts().iter_rows())["kernel.command_line"] == _COMMAND_LINE


def test_each_mail_of_a_mailbox_is_read(tmp_path: Path) -> None:
    first, second = _mail("No log is here.\n", "7bit"), _mail(_LOG, "base64")
    begin = "From a@example.org Mon Jan  1 00:00:00 2024\n"
    box = "".join(f"{begin}{mail.as_string()}\n" for mail in (first, second))
    boot = imported(tmp_path, {"thread.mbox": box})
    assert dict(boot.facts().iter_rows())["kernel.command_line"] == _COMMAND_LINE


def test_a_mail_without_a_record_says_so(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="has the shape of a known boot record"):
        imported(tmp_path, {"mail.eml": _mail("Nothing of a boot.\n", "base64").as_string()})
