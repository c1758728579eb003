"""What other packages add to Firstlight, found by entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from firstlight.errors import FirstlightError
from firstlight.escape import printable


@dataclass(frozen=True)
class Plugin:
    """One object that a package offers."""

    entry: EntryPoint

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self.entry.name

    def require(self) -> Any:
        """The object.

        :raises FirstlightError: when its package cannot be loaded; the message names it.
        """
        try:
            return self.entry.load()
        except FirstlightError as error:
            # Firstlight rejects what the package says, such as a plan: the author corrects it where it is.
            where = error.where or self.entry.value
            hint = error.hint or f"correct it there, or ask the author of the package `{self._package}`"
            raise FirstlightError(f"`{self.name}` cannot be loaded: {error.message}", where=where, hint=hint) from error
        # It is not our code: whatever it raises is its author's to correct.
        except Exception as error:
            package = self._package
            message = f"the plugin `{self.name}` cannot be loaded: {type(error).__name__}: {error}"
            hint = f"update the package `{package}`, or remove it: `pip uninstall {package}`"
            raise FirstlightError(message, where=self.entry.value, hint=hint) from error

    @property
    def _package(self) -> str:
        return self.entry.dist.name if self.entry.dist is not None else self.entry.value

    def load(self) -> Any | None:
        """The object; nothing, with a warning on standard error, when its package cannot be loaded."""
        try:
            return self.require()
        except FirstlightError as error:
            print(f"warning: {printable(str(error), 500)}\nhint: {printable(str(error.hint))}", file=sys.stderr)
            return None


def plugins(group: str) -> Iterator[Plugin]:
    """What packages offer in an entry point group, in the order of the names; nothing is loaded.

    :param group: `firstlight.studies` or `firstlight.commands`.

    >>> next(plugins("no.such.group"), None) is None
    True
    """
    return map(Plugin, sorted(entry_points(group=group), key=lambda entry: entry.name))
