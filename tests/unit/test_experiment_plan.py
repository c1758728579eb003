"""A plan says what is booted; what is wrong in it is named with its line and the nearest known word."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.experiment.cell_options import options_for
from firstlight.experiment.design import cells_of
from firstlight.experiment.plan import parse_plan, read_plan
from firstlight.experiment.plan_parser import PlanError
from firstlight.experiment.randomize import blocks
from firstlight.experiment.schedule import prepare
from firstlight.lab.host.progress import SilentProgress

ARMS = '[[arm]]\nname = "stock"\n[[arm]]\nname = "quiet"\nappend = "quiet"\n'


def factor(name: str, **keys: str) -> str:
    """A factor of the command line as TOML."""
    lines = {"kind": '"command-line"', "on": f'"{name}=1"', **keys}
    return f'[[factor]]\nname = "{name}"\n' + "".join(f"{key} = {value}\n" for key, value in lines.items() if value)


FACTORS = factor("x") + factor("y")


def complaint(text: str) -> str:
    """What is said about a plan that cannot be."""
    with pytest.raises(PlanError) as caught:
        cells_of(parse_plan(text, "p.toml"))
    assert caught.value.exit_code == 2
    return caught.value.report()


def test_more_arms_than_an_experiment_can_have_are_refused() -> None:
    said = complaint("".join(f'[[arm]]\nname = "a{number}"\n' for number in range(1025)))
    assert "`arm`: there are 1,025, 1,024 are the most" in said


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (ARMS + 'apend = "x"', "p.toml:6", "unknown key `apend` in `arm` number 2\nhint: did you mean `append`?"),
        ("repeat = 3\n" + ARMS, "p.toml:1", "unknown key `repeat`\nhint: did you mean `repeats`?"),
        ('[bas]\nmemory = "1G"\n' + ARMS, "p.toml:1", "unknown key `bas`\nhint: did you mean `base`?"),
        (ARMS + '[base]\nguest_comand = "x"', "p.toml:7", "did you mean `guest-command`?"),
        (ARMS + '[health]\nmark = ["x"]', "p.toml:7", "did you mean `marks`?"),
        (ARMS + "[health.facts]\na = {at-moste = 3}", "p.toml:7", "did you mean `at-most`?"),
        (ARMS + '[[stage]]\nname = "x"\nform = "a"', "p.toml:8", "did you mean `from`?"),
        (ARMS + 'files = {"/etc/x" = {txt = "a"}}', "p.toml:6", "did you mean `text`?"),
        (factor("x", kind='"comand line"'), "p.toml:3", "no `comand-line`\nhint: did you mean `command-line`?"),
        (
            factor("x", kind='"machine"', on='{memry = "1G"}'),
            "p.toml:1",
            "level `on`: unknown key `memry`, did you mean `memory`?",
        ),
        ('design = "ful"\n' + FACTORS, "p.toml:1", "there is no `ful`\nhint: did you mean `full`?"),
        ('mode = "exakt"\n' + ARMS, "p.toml:1", "did you mean `exact`?"),
    ],
)
def test_an_unknown_word_is_named_with_its_line_and_the_nearest_one(text: str, place: str, said: str) -> None:
    report = complaint(text)
    assert report.startswith(f"error: {place}: ")
    assert said in report


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to compare"),
        (ARMS + FACTORS, "arms or factors, not both"),
        ('[[arm]]\nname = "a"', "one arm is not enough"),
        ('[[arm]]\nname = "a"\n[[arm]]\nname = "a"', "`a` exists twice"),
        ('[[arm]]\nname = "../a"\n[[arm]]\nname = "b"', "`../a` is not a good name"),
        ("[[arm]]\n[[arm]]", "`name` is missing in `arm` number 1"),
        ("repeats = 0\n" + ARMS, "greater than or equal to 1"),
        (ARMS + 'files = {"etc/x" = {text = ""}}', "not an absolute path"),
        (ARMS + 'files = {"/etc/../x" = {text = ""}}', "not an absolute path"),
        (ARMS + 'files = {"/x" = {text = "", remove = true}}', "give one of"),
        (ARMS + '[[stage]]\nname = "x"\nfrom = "a"', "`from` and `to` go together"),
        (ARMS + '[[stage]]\nname = "x"\nfrom = "a"\nto = "power_on"', "`power_on` is never after `a`"),
        (ARMS + '[measure]\nfrom = "ready"\nto = "ready"', "`ready` is never after `ready`"),
        (ARMS + '[health.facts]\na = {matches = "("}', "not a regular expression"),
        ('design = "fractional"\n' + factor("x", on="", levels='{a="",b="1",c="2"}'), "factors of two levels"),
        (factor("x", levels='{a="", b="1"}'), "give `on`, or `levels`"),
        (factor("x", on="", levels='{a=""}'), "1 levels"),
        (factor("m", kind='"machine"', on='{memory="1G"}') + factor("n", kind='"machine"', on='{memory="2G"}'),
         "factor `n` and an earlier factor both set `memory`"),
        ("".join(factor(f"f{number}") for number in range(11)), "2,048 cells"),
        ('design = "one-at-a-time"\n' + "".join(factor(f"f{number}") for number in range(1024)), "1,025 cells"),
        ('design = "plackett-burman"\n' + "".join(factor(f"f{number}") for number in range(48)), "at most 47"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_the_reason(text: str, said: str) -> None:
    assert said in complaint(text)


def test_what_is_no_toml_or_no_text_is_refused_with_its_place(tmp_path: Path) -> None:
    assert complaint("title = x\n").startswith("error: p.toml:1:9: the plan is not TOML")
    plan = tmp_path / "p.toml"
    plan.write_bytes(b'title = "\xff"')
    with pytest.raises(PlanError, match="not UTF-8 text, from byte 9"):
        read_plan(plan)
    with pytest.raises(PlanError, match="No such file"):
        read_plan(tmp_path / "none.toml")


def test_a_full_design_has_every_combination_once_and_the_baseline_first() -> None:
    cells = cells_of(parse_plan(factor("x", on="", levels='{a="",b="1",c="2"}') + factor("y"), "p"))
    assert [cell.name for cell in cells] == ["x=a,y=off", "x=a,y=on", "x=b,y=off", "x=b,y=on", "x=c,y=off", "x=c,y=on"]
    assert cells[5].change.append == "2 y=1"


def test_one_at_a_time_is_the_baseline_and_each_level_alone() -> None:
    cells = cells_of(parse_plan('design = "one-at-a-time"\n' + FACTORS, "p"))
    assert [cell.name for cell in cells] == ["baseline", "x=on", "y=on"]


def test_a_plackett_burman_design_is_balanced_and_folds_over() -> None:
    factors = "".join(factor(f"f{number}") for number in range(11))
    cells = cells_of(parse_plan('design = "plackett-burman"\n' + factors, "p"))
    assert len(cells) == 24
    for name in cells[0].levels:
        assert [cell.levels[name] for cell in cells].count("on") == 12
    combinations = {tuple(cell.levels.values()) for cell in cells}
    mirrored = {tuple({"on": "off", "off": "on"}[level] for level in row) for row in combinations}
    assert combinations == mirrored
    plain = cells_of(parse_plan('[design]\nkind = "plackett-burman"\nfold-over = false\n' + factors, "p"))
    assert len(plain) == 12


def test_a_fractional_design_of_resolution_five_tells_all_pairs_apart() -> None:
    factors = "".join(factor(f"f{number}") for number in range(5))
    cells = cells_of(parse_plan('[design]\nkind = "fractional"\nresolution = 5\n' + factors, "p"))
    assert len(cells) == 16
    signs = [[1 if level == "on" else -1 for level in cell.levels.values()] for cell in cells]
    columns = [[row[i] * row[j] for row in signs] for i in range(5) for j in range(i)]
    for place, one in enumerate(columns):
        for other in columns[:place]:
            assert sum(a * b for a, b in zip(one, other, strict=True)) == 0


def test_blocks_hold_every_cell_once_and_more_repeats_keep_the_order_before() -> None:
    names = list("abcde")
    few, many = blocks(names, 3, seed=11), blocks(names, 9, seed=11)
    assert many[: len(few)] == few
    for repeat in range(1, 10):
        assert sorted(cell for cell, number in many if number == repeat) == [0, 1, 2, 3, 4]
    assert blocks(names, 9, seed=12) != many


def test_a_factor_of_the_initramfs_is_another_one_or_files_in_it(tmp_path: Path) -> None:
    plan = parse_plan(
        """
        [base]
        rootfs = "debian"
        [[factor]]
        name = "hook"
        kind = "initramfs"
        on = { "/before-root" = { text = "#!/bin/sh\\n", mode = "0755" } }
        [[factor]]
        name = "own"
        kind = "initramfs"
        levels = { first = "", second = "my.cpio" }
        """,
        "x.toml",
    )
    hook, own = plan.factors
    assert hook.levels["off"].initramfs_files == {}
    assert hook.levels["on"].initramfs_files["/before-root"].mode == "0755"
    assert (own.levels["first"].initrd, own.levels["second"].initrd) == (None, "my.cpio")
    cell = next(cell for cell in cells_of(plan) if cell.levels == {"hook": "on", "own": "first"})
    chosen = options_for(plan, cell, tmp_path, tmp_path / "a.boot", SilentProgress())
    assert chosen.overlay is None
    assert chosen.initramfs_files is not None
    assert (chosen.initramfs_files / "before-root").read_text() == "#!/bin/sh\n"


def test_a_dry_run_builds_nothing_and_names_arms_that_change_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plan = tmp_path / "plan.toml"
    plan.write_text("""
        [[arm]]
        name = "debian"
        rootfs = "debian"
        [[arm]]
        name = "files"
        files = { "/etc/x" = { text = "x" } }
        [[arm]]
        name = "again"
        files = { "/etc/x" = { text = "x" } }
    """)
    prepared = prepare(plan, dry_run=True)
    assert [cell.key for cell in prepared.state.cells] == ["", "", ""]
    assert prepared.notes == ["arms `files` and `again` make the same change: they are one boot"]
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []
    assert not (tmp_path / "plan").exists()
