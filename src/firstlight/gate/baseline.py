"""A baseline: what boots were blessed to take, why, and the evidence for it, in one file that can be committed."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator

from firstlight.bundle.boot import Boot
from firstlight.bundle.key import key_of_boot
from firstlight.comparison.boot_figures import Sample, take_sample
from firstlight.comparison.open_many import check_one_recipe
from firstlight.comparison.testbed import Testbed, combined, describe_testbed, differences
from firstlight.errors import MISSING_INPUT, FirstlightError, UnhealthyBootError, UsageError
from firstlight.frozen import FrozenModel
from firstlight.recipe.choices import Choices, read_choices
from firstlight.recipe.mode import RecordMode
from firstlight.toml import check
from firstlight.version import VERSION

#: Where baselines are kept when no place is named.
DIRECTORY = Path("baselines")

_LARGEST = 64 << 20


def _choices(value: object) -> object:
    """Choices as JSON has them; where nothing was known an object without fields stood."""
    return read_choices(value) if isinstance(value, dict) and value else value or None


class Baseline(FrozenModel):
    """What is written down. Times are nanoseconds of the testbed's clock."""

    format: Literal["firstlight baseline 1"]
    name: str
    because: str
    blessed_at: str
    blessed_by: str
    """The version of Firstlight."""
    testbed: Testbed
    recipe: Annotated[Choices | None, BeforeValidator(_choices)]
    """What was chosen; none where nothing of the kind is known."""
    repeat: str
    """The command line that boots it again."""
    samples: list[Sample]
    former: str | None = None
    """The reason of the baseline that this one replaced."""
    key: str | None = None
    """The digest of the recipe and of its inputs; none where an earlier version saved the baseline."""

    @property
    def method(self) -> Literal["exact", "noisy"]:
        """Whether one boot says all."""
        return "exact" if self.testbed.mode == RecordMode.EXACT else "noisy"


def make_baseline(boots: Sequence[Boot], name: str, because: str, former: Baseline | None = None) -> Baseline:
    """Make a baseline of one exact boot, or of several boots of one recipe.

    :param because: why this level is accepted.
    :raises UsageError: without a reason, or for boots of several testbeds or recipes.
    :raises UnhealthyBootError: for a boot that did not come up, or none of whose figures is reliable.
    :raises FirstlightError: for exact boots of one recipe that differ: then they are not exact.

    >>> import firstlight
    >>> made = make_baseline([firstlight.open(bundle)], "baseline", "the first one")
    >>> made.method, made.samples[0].virtual_ns
    ('exact', 829882107)
    """
    if not because.strip():
        raise UsageError("a baseline needs a reason", where="--because", hint='say why: `--because "new compiler"`')
    if not boots:
        raise UsageError("a baseline needs a boot")
    beds = [describe_testbed(boot) for boot in boots]
    samples = [take_sample(boot) for boot in boots]
    testbed = beds[0]
    for boot, sample, bed in zip(boots, samples, beds, strict=True):
        where = str(boot.directory)
        if not sample.healthy:
            message = f"this cannot be a baseline: {sample.unhealthy_text}"
            raise UnhealthyBootError(message, where=where)
        if other := differences(testbed, bed):
            raise UsageError(f"not the testbed of the first boot: {'; '.join(other.values())}", where=where)
        testbed = combined(testbed, bed)
        check_one_recipe(boots[0], boot, "a baseline has one recipe: save each recipe under a separate name")
        if beds[0].mode == RecordMode.EXACT and sample.tables != samples[0].tables:
            raise FirstlightError("exact boots of one recipe that are not equal", where=where,
                                  hint="`firstlight verify` shows the differences")  # fmt: skip
    manifest = boots[0].manifest
    return Baseline(
        format="firstlight baseline 1",
        name=name,
        because=because.strip(),
        blessed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        blessed_by=VERSION,
        testbed=testbed,
        recipe=manifest.chosen,
        repeat=manifest.reproduce,
        samples=samples,
        former=None if former is None else former.because,
        key=key_of_boot(manifest),
    )


def baseline_path(name: str, directory: Path = DIRECTORY) -> Path:
    """Where a baseline of this name is kept: a name, or itself the path of a file.

    :raises UsageError: for a name that would lead elsewhere.

    >>> from firstlight import baseline_path
    >>> baseline_path("baseline").as_posix(), baseline_path("ci/board.json").as_posix()
    ('baselines/baseline.json', 'ci/board.json')
    """
    if name.endswith(".json"):
        return Path(name)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", name):
        hint = "use letters, digits, `.`, `-`, `_`, `+`, or a `.json` file"
        raise UsageError(f"`{name}` is not a name for a baseline", hint=hint)
    return directory / f"{name}.json"


def baseline_text(baseline: Baseline) -> str:
    """A baseline as text, one line for each figure, so that a change can be read in a diff."""
    return json.dumps(baseline.model_dump(mode="json"), indent=1) + "\n"


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    :raises UsageError: when there is none, or none that can be read.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError("this is too large for a baseline", where=str(path))
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        hint = f"`firstlight baseline set BOOT --as {shlex.quote(path.stem)} --because ...` makes one"
        raise UsageError("there is no such baseline", where=str(path), hint=hint, exit_code=MISSING_INPUT) from error
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is not a baseline: {error}", where=str(path)) from error
    baseline = check(data, Baseline, str(path))
    if not baseline.samples:
        raise UsageError("this baseline has no boot", where=str(path), hint="save a new one")
    if any(sample.virtual_ns <= 0 for sample in baseline.samples):
        raise UsageError("a boot of this baseline has no time above 0", where=str(path), hint="save a new one")
    samples = [sample.in_present_words() for sample in baseline.samples]
    return baseline.model_copy(update={"samples": samples, "testbed": baseline.testbed.in_present_words()})
