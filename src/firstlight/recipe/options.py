"""What the user may choose about one recording."""

from __future__ import annotations

from dataclasses import fields

from pydantic.dataclasses import dataclass

from firstlight.recipe.choices import STRICT, Choices
from firstlight.recipe.field_types import FilePath


@dataclass(frozen=True, config=STRICT)
class RecordOptions(Choices):
    """The choices behind one `firstlight record`: those of its boot, and where its bundle goes.

    >>> from pathlib import Path
    >>> from firstlight.recipe.choices import Choices
    >>> from firstlight.recipe.options import RecordOptions
    >>> options = RecordOptions(output=Path("a.boot"), append="quiet", memory="1G")
    >>> options.choices == Choices(append="quiet", memory="1G")
    True
    """

    output: FilePath
    """Where the bundle goes, conventionally `NAME.boot`."""
    force: bool = False
    """Replace a bundle that is already there."""

    @property
    def choices(self) -> Choices:
        """What of these decides or watches the boot."""
        return Choices(**{each.name: getattr(self, each.name) for each in fields(Choices)})


def options_for(choices: Choices, output: FilePath) -> RecordOptions:
    """The choices of a recording with those of a boot.

    >>> from pathlib import Path
    >>> options_for(Choices(append="quiet"), Path("a.boot")).append
    'quiet'
    """
    return RecordOptions(output, **{each.name: getattr(choices, each.name) for each in fields(Choices)})
