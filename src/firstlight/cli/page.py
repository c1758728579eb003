"""A page that a verb writes beside, or in the place of, what it prints."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstlight.api.write import check_free
from firstlight.errors import UsageError

_STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True)
class Page:
    """Where a page goes: a file, or standard output."""

    path: Path

    @classmethod
    def wanted(cls, path: Path | None, force: bool, *, data: bool) -> Page | None:
        """What `--html` and `--force` ask for; checked before anything is computed.

        :param data: the verb prints data besides, so that the page needs a file of its own.
        :raises UsageError: when the options contradict one another.
        :raises FirstlightError: when the file is there already and *force* is not given.
        """
        if path is None:
            if force:
                raise UsageError("`--force` is for `--html`", hint="`--html FILE` writes a page")
            return None
        if path != _STANDARD_OUTPUT:
            check_free(path, force=force)
        elif data:
            raise UsageError(
                "`--html -` cannot be combined with data on standard output", hint="name the page: `--html FILE`"
            )
        return cls(path)

    def write(self, data: dict[str, Any]) -> None:
        """Write the page with *data* in it.

        :raises LabError: when the page has not been built.
        :raises FirstlightError: when the file cannot be written.
        """
        from firstlight.render.page.html import filled

        self.write_text(filled(data))

    def write_text(self, html: str) -> None:
        """Write a page that is HTML already.

        :raises FirstlightError: when the file cannot be written.
        """
        from firstlight.render.page.html import write_page

        if self.path == _STANDARD_OUTPUT:
            sys.stdout.write(html)
        else:
            write_page(html, self.path)

    def print_path(self) -> None:
        """Print where the page is."""
        if self.path != _STANDARD_OUTPUT:
            print(self.path)
