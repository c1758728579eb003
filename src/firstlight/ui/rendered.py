"""Report pages that were made once: the same bundle gives the same bytes, so they are kept in the user's cache."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from firstlight.assets import asset_path
from firstlight.cache import cache_dir, digest_of, entry
from firstlight.errors import LabError
from firstlight.version import VERSION

KIND = "ui-pages"
#: No more pages than this stay in the cache.
MOST_PAGES = 100
_PAGE = "page.html"


class Rendered:
    """Makes pages one at a time and keeps them.

    >>> pages = Rendered()
    >>> pages.page(["example"], lambda: "<p>made</p>"), pages.page(["example"], lambda: "<p>not made</p>")
    ('<p>made</p>', '<p>made</p>')
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._code = _code_digest()

    def page(self, parts: list[str], make: Callable[[], str]) -> str:
        """A page from the cache, or made now.

        :param parts: everything that decides the page, apart from this version of Firstlight.
        :param make: makes it.
        """
        digest = digest_of(self._code, *parts)

        def fill(directory: Path) -> None:
            (directory / _PAGE).write_text(make(), encoding="utf-8", newline="")

        # One at a time: the work is Python's, and a second one would only make both slower.
        with self._lock:
            try:
                made = entry(KIND, digest, fill)
            except LabError:
                # A cache that cannot be written is no reason to show nothing.
                return make()
            text = (made / _PAGE).read_text(encoding="utf-8", errors="surrogatepass")
            _prune(digest)
        return text


def _code_digest() -> str:
    """What of this installation decides a page: the version, the built page, and the Python files as they are."""
    root = Path(__file__).parents[1]
    state = hashlib.sha256(asset_path("page.html").read_bytes())
    for path in sorted([*root.rglob("*.py"), *root.glob("_core*.so")]):
        found = path.stat()
        state.update(f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}\n".encode())
    return f"{VERSION} {state.hexdigest()}"


def _prune(keep: str) -> None:
    """Remove the oldest pages beyond the limit."""
    folder = cache_dir() / KIND
    pages = [each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")]
    if len(pages) <= MOST_PAGES:
        return
    pages.sort(key=lambda each: each.stat().st_mtime)
    for old in pages[: len(pages) - MOST_PAGES]:
        if old.name != keep:
            shutil.rmtree(old, ignore_errors=True)
            old.with_name(f".{old.name}.seal").unlink(missing_ok=True)
            old.with_name(f".{old.name}.lock").unlink(missing_ok=True)
