"""Planned studies: what is wrong with a plan or its claims is named before anything boots."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from bundles import make_bundle
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError, UsageError
from firstlight.render.terminal.experiment_progress import ExperimentProgress
from firstlight.schema.marks import Mark
from firstlight.study.extent import Extent
from firstlight.study.planned import PlannedMeasure, planned_study, read_plan
from firstlight.study.runner import Lab, StudyArm
from firstlight.study.skeleton import write_skeleton
from firstlight.study.table import MissingValue

PLAN = """
name = "mine"
title = "t"
question = "q"
baseline = "loud"
[arm.loud]
[arm.quiet]
append = "quiet"
[measure.boot]
first = "power_on"
last = "ready"
[figure.saved]
measure = "boot"
arm = "loud"
minus = "quiet"
"""
CLAIM = """
[[claim]]
id = "quiet-saves"
statement = "s"
figure = "saved"
unit = "time"
expect = "at least"
limit = 1
depends = ["kernel"]
refuted_by = "r"
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a package with this plan and these claims; returns its name."""

    def write(plan: str = PLAN, claims: str = CLAIM, historical: str = "") -> str:
        name = f"planned_{tmp_path.name.replace('-', '_')}"
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "plan.toml").write_text(plan)
        (folder / "claims.toml").write_text(claims)
        if historical:
            (folder / "historical.toml").write_text(historical)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('append = "quiet"', "", "the arms `loud` and `quiet` have the same boot, so it is always 0"),
        ('minus = "quiet"', 'minus = "loud"', "`loud` is compared with itself, so it is always 0"),
    ],
)
def test_a_difference_of_equal_arms_is_named(package: Any, before: str, after: str, said: str) -> None:
    with pytest.raises(FirstlightError, match="figure `saved`") as error:
        read_plan(package(PLAN.replace(before, after)))
    assert said in str(error.value)


@pytest.mark.parametrize("key", ["figure", "band"])
def test_a_claim_without_its_figure_is_named_before_anything_boots(package: Any, key: str) -> None:
    claims = CLAIM.replace('figure = "saved"', 'figure = "sawed"') if key == "figure" else CLAIM + 'band = "bend"\n'
    study = planned_study(package(claims=claims))
    with pytest.raises(UsageError, match="the claim `quiet-saves` names the figure") as error:
        study.check(Extent())
    assert error.value.hint is not None
    assert "saved, band, band-share" in error.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('now = "{sawed:time}"\n', "claim `quiet-saves`: no figure `sawed` was measured"),
        ('now = "{saved"\n', "claim `quiet-saves`: a text has a wrong placeholder"),
        ('why = "{saved:furlong}"\n', "claim `quiet-saves`: there is no unit `furlong`"),
        (
            'now = "{saved:bytes}"\n',
            "claim `quiet-saves`: a text states the figure `saved` as `bytes`, which it is not",
        ),
        ('why = { "no longer holds" = "{sawed}" }\n', "claim `quiet-saves`: no figure `sawed` was measured"),
    ],
)
def test_a_wrong_placeholder_is_named_before_anything_boots(package: Any, text: str, said: str) -> None:
    study = planned_study(package(claims=CLAIM + text))
    with pytest.raises(UsageError, match=said):
        study.check(Extent())


@pytest.mark.parametrize(
    ("figure", "unit", "hint"),
    [
        ("saved", "share", "give time or change"),
        ("share-saved", "time", "give share or percent or share_change or number"),
        ("band-share", "time", "give share or percent or share_change or number"),
        ("calls", "time", "give count or count_change or number"),
    ],
)
def test_a_claim_in_a_unit_that_its_figure_does_not_have_is_named(
    package: Any, figure: str, unit: str, hint: str
) -> None:
    plan = (
        PLAN
        + 'relative = false\n[figure.share-saved]\nmeasure = "boot"\narm = "loud"\nminus = "quiet"\nrelative = true\n'
        + '[measure.printed]\nfunction = "vprintk_emit"\ncalls = true\n'
        + '[figure.calls]\nmeasure = "printed"\narm = "loud"\n'
    )
    claims = CLAIM.replace('"saved"', f'"{figure}"').replace('"time"', f'"{unit}"')
    with pytest.raises(UsageError, match=f"has the unit `{unit}`, which its figure `{figure}` does not have") as error:
        planned_study(package(plan, claims)).check(Extent())
    assert error.value.hint == hint


TABLE = """
[[table]]
key = "then"
title = "Then"
source = "a mail"
fields = [{ title = "What" }, { title = "Time", kind = "seconds" }]
rows = [["loud", 1.5], ["quiet", ""]]
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('["quiet", ""]', '["quiet"]', "`then`, row 2: 1 cells for 2 fields"),
        ("1.5", "nan", "`then`, row 1, Time: `nan` is no figure"),
        ("1.5", "-3", "`then`, row 1, Time: `-3` is below 0, and a `seconds` never is"),
        ("1.5", "2024-01-01", "row 1: `2024-01-01` is neither a text nor a figure"),
        ("1.5", "true", "row 1: `True` is neither a text nor a figure"),
        ("1.5", "[1, 2]", "row 1: `[1, 2]` is neither a text nor a figure"),
        ('"then"', '"../../then"', "key"),
        ('"seconds"', '"furlongs"', "kind"),
        ('title = "Then"\n', "", "title"),
        ('source = "a mail"', "", "source"),
        ("[[table]]", f"{TABLE}\n[[table]]", "two tables have the key `then`"),
        ("[[table]]", "[[table]", "is not TOML"),
        (TABLE, "table = []\n", "table"),
    ],
)
def test_a_wrong_table_of_others_is_named_before_anything_boots(
    package: Any, before: str, after: str, said: str
) -> None:
    study = planned_study(package(historical=TABLE.replace(before, after, 1)))
    with pytest.raises(FirstlightError) as error:
        study.check(Extent())
    assert said in str(error.value)
    assert "historical.toml" in str(error.value)


def test_a_table_of_others_may_leave_a_figure_open(package: Any) -> None:
    planned_study(package(historical=TABLE)).check(Extent())


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("limit = 1", "limit = nan", "limit"),
        ("limit = 1", "limit = 1\nvalue = nan\ntolerance = 0.1", "value"),
        ("limit = 1", "limit = 1\nvalue = 5\ntolerance = inf", "tolerance"),
        ('"at least"\nlimit = 1', '"between"\nlimit = [9, 1]', "nothing lies between 9 and 1"),
    ],
)
def test_a_limit_that_decides_nothing_is_named(package: Any, before: str, after: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        planned_study(package(claims=CLAIM.replace(before, after))).check(Extent())
    assert said in str(error.value)


@pytest.mark.parametrize(
    "added", ['function = "schedule"\nfirst = "power_on"\n', 'calls = true\nfirst = "power_on"\nlast = "ready"\n']
)
def test_a_measure_is_of_marks_or_of_a_function(package: Any, added: str) -> None:
    with pytest.raises(UsageError, match=r"a measure has either|is of a `function`"):
        read_plan(package(f"{PLAN}[measure.other]\n{added}"))


@pytest.mark.parametrize("memory", ["banana", "0", "-1G"])
def test_a_memory_that_no_guest_can_have_is_named_before_anything_boots(package: Any, memory: str) -> None:
    with pytest.raises(UsageError):
        planned_study(package()).check(Extent(memory=memory))


@pytest.mark.parametrize(("first", "last"), [("ready", "ready"), ("ready", "power_on")])
def test_a_measure_whose_last_mark_is_never_after_its_first_is_refused(package: Any, first: str, last: str) -> None:
    plan = PLAN.replace('first = "power_on"', f'first = "{first}"').replace('last = "ready"', f'last = "{last}"')
    with pytest.raises(UsageError, match=f"`{last}` is never after `{first}`"):
        read_plan(package(plan))


def test_a_boot_whose_marks_come_in_another_order_has_no_time_between_them(tmp_path: Path) -> None:
    boot = open_boot(make_bundle(tmp_path))
    measure = PlannedMeasure(first=Mark.READY, last=Mark.USER_START)
    assert measure.of(boot) == MissingValue("mark `user_start` does not come after `ready`")


@pytest.mark.parametrize("name", ["json", "firstlight", "class"])
def test_no_study_has_the_name_of_a_module_of_python(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"Python has a module `{name}` already"):
        write_skeleton(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("appended", "is_one_boot"), [("", True), ("quiet", False)])
def test_arms_with_the_same_inputs_are_named_and_decide_nothing(
    package: Any, tmp_path: Path, appended: str, is_one_boot: bool
) -> None:
    # 512 MiB is the default, too.
    study = planned_study(package(PLAN.replace('append = "quiet"', 'memory = "512M"')))

    class Booted(Lab):
        def boot_all(self, arms: Iterable[StudyArm]) -> dict[str, Boot | MissingValue]:
            append = {"quiet": appended}
            made = {
                arm.name: make_bundle(self.folder, name=f"{arm.name}.boot", append=append.get(arm.name, ""))
                for arm in arms
            }
            return {name: open_boot(path) for name, path in made.items()}

    with ExperimentProgress() as progress:
        (finding,) = study.run(Booted(tmp_path, progress, extent=Extent(quick=True))).findings
    same = "the arms `loud` and `quiet` have the same inputs: they are one boot"
    assert ((finding.verdict, finding.now) == ("not testable here", same)) == is_one_boot


def test_a_function_that_no_boot_has_does_not_take_no_time() -> None:
    measure = PlannedMeasure(function="vprintk_emitt")
    absent = measure.checked({"loud": 0, "quiet": 0})
    assert absent["loud"] == MissingValue("no boot has the function `vprintk_emitt`")
    assert measure.checked({"loud": 5, "quiet": 0}) == {"loud": 5, "quiet": 0}
