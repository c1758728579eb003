"""When a boot was recorded."""

from __future__ import annotations

from datetime import datetime

from firstlight.bundle.boot import Boot
from firstlight.recipe.mode import RecordMode

_STARTED_AT = "capture.started_at"


def recording_time(boot: Boot) -> datetime | None:
    """The instant of a boot's recording; None where it is unknown.

    The manifest of an imported boot only has the time of its import. A capture states when it began.

    >>> import firstlight
    >>> recording_time(firstlight.open(bundle)).tzinfo is None
    False
    """
    text = boot.manifest.recorded_at
    if boot.manifest.mode == RecordMode.IMPORTED:
        text = boot.fact_values().get(_STARTED_AT, "")
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
