"""Text from a boot, made safe for a terminal, Markdown and HTML."""

from __future__ import annotations

import html
import re
import unicodedata

#: ECMA-48's SGR: colours, bold and the like.
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ")
# What Markdown takes for more than text; an underscore inside a word is none.
_MARKUP = re.compile(r"([\\`*{}\[\]|~$]|^#|^[+-](?= )|^\d{1,9}(?=[.)] )|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
# Cc: control characters, the escape among them; Cf: those that turn the direction of writing or hide;
# Cs: halves of characters; Co and Cn: what no font knows; Zl and Zp: line ends.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int | None = None) -> str:
    r"""Write everything that a terminal would obey, or not show, as an escape of Python.

    :param limit: at most so many characters; what is cut off shows as ``…``.

    >>> printable("\x1b[31mred\n")
    '\\x1b[31mred\\n'
    >>> printable("näme \u202egnp.exe")
    'näme \\u202egnp.exe'
    >>> printable("a" * 9, limit=4)
    'aaa…'
    """
    if limit is not None and len(text) > limit:
        return printable(text[: limit - 1], limit)[: limit - 1] + "…"
    if text.isascii() and text.isprintable():
        return text
    written = "".join(_escape(character) if unicodedata.category(character) in _UNPRINTABLE else character
                      for character in text)  # fmt: skip
    return written if limit is None or len(written) <= limit else written[: limit - 1] + "…"


def escape_markdown(text: str, limit: int | None = None) -> str:
    r"""Write a text so that Markdown shows it as it is, on one line: no markup, no HTML, and no mention of a person.

    :param limit: at most so many characters before they are escaped.

    >>> escape_markdown("a_b _c_ <script>|"), escape_markdown("@all"), escape_markdown("- 5 %")
    ('a_b \\_c\\_ &lt;script&gt;\\|', '@<!-- -->all', '\\- 5 %')
    """
    shown = _MARKUP.sub(
        lambda found: f"{found[1]}\\" if found[1].isdigit() else f"\\{found[1]}", printable(text, limit)
    )
    return html.escape(shown, quote=False).replace("@", "@<!-- -->")


def escape_html(text: str, limit: int | None = None) -> str:
    r"""Write a text so that HTML shows it as it is, in an attribute, too.

    >>> escape_html("a<b> & \x1b")
    'a&lt;b&gt; &amp; \\x1b'
    """
    # Halves of characters are not valid text of a file.
    sound = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return html.escape(printable(sound, limit))


def message(text: str, stamp: bool = True) -> str:
    r"""A line of a log without the colours that it was printed in, and perhaps without the kernel's own stamp.

    :param stamp: whether that stays.

    >>> message("[\x1b[0;32m  OK  \x1b[0m] Started a.service")
    '[  OK  ] Started a.service'
    >>> message("[    1.500000][    T1] pci: probing", stamp=False)
    'pci: probing'
    """
    text = _COLOUR.sub("", text)
    return text if stamp else _STAMP.sub("", text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
