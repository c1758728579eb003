"""A command of one's own: `firstlight quiet`."""

from pathlib import Path

import firstlight


def quiet(boot: Path) -> None:
    """Say whether a boot was quiet."""
    print("quiet" if firstlight.open(boot).log().is_empty() else "loud")
