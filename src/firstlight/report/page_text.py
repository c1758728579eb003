"""Text as a page carries it: valid Unicode of bounded length."""

from __future__ import annotations

#: No more characters of one text than this go into a page.
TEXT = 4_000


def shortened(text: str, length: int) -> str:
    """*text* as valid Unicode of at most *length* characters; what is cut off is counted.

    >>> shortened("a" * 12, 10)
    'aaaaaaaaaa… (12 characters)'
    """
    sound = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return sound if len(sound) <= length else f"{sound[:length]}… ({len(sound):,} characters)"
