"""What can be compared with what, and what is said where it cannot."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from answers import data_of_answer
from bundles import make_bundle, write_table
from firstlight.cli.main import run
from firstlight.comparison.compare import compare_exact, is_noisy
from firstlight.comparison.sides.arms import CompareError, read_arm, read_arms
from firstlight.comparison.sides.input_changes import input_changes
from firstlight.comparison.sides.preconditions import check_comparable
from firstlight.errors import BundleError, UnhealthyBootError, UsageError
from imported_bundle import make_imported


def change(bundle: Path, how: Callable[[dict[str, Any]], object]) -> Path:
    """Change the manifest of a bundle."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    how(manifest)
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    return bundle


def kinds(a: Path, b: Path) -> list[str]:
    return [flag.kind for flag in compare_exact(read_arm(a), read_arm(b)).flags]


def test_an_arm_is_a_bundle_or_a_directory_of_bundles(tmp_path: Path) -> None:
    single = make_bundle(tmp_path)
    for name in ("2.boot", "1.boot"):
        make_bundle(tmp_path / "several", name=name)
    (tmp_path / "several" / "notes.txt").write_text("no boot")
    (tmp_path / "several" / ".3.boot.partial").mkdir()
    one, several = read_arms([single, tmp_path / "several"])
    assert [boot.directory.name for boot in one.boots] == ["a.boot"]
    assert [boot.directory.name for boot in several.boots] == ["1.boot", "2.boot"]
    assert one.is_exact
    assert several.is_exact


def test_one_arm_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs 2 arms, there is 1"):
        read_arms([make_bundle(tmp_path)])


@pytest.mark.parametrize("what", ["nothing", "an empty directory", "a file"])
def test_what_is_no_arm_is_reported_by_its_path(tmp_path: Path, what: str) -> None:
    path = tmp_path / "arm"
    if what == "an empty directory":
        path.mkdir()
    elif what == "a file":
        path.write_text("")
    with pytest.raises(BundleError) as raised:
        read_arm(path)
    assert raised.value.where == str(path)


def test_failed_and_damaged_boots_do_not_take_part_and_are_named(tmp_path: Path) -> None:
    make_bundle(tmp_path / "arm", name="good.boot")
    make_bundle(tmp_path / "arm", name="panicked.boot", failed=True)
    (make_bundle(tmp_path / "arm", name="torn.boot") / "manifest.json").write_text('{"schema_version"')
    arm = read_arm(tmp_path / "arm")
    assert [boot.directory.name for boot in arm.boots] == ["good.boot"]
    reasons = {each.path.name: each.reason for each in arm.excluded}
    assert reasons["panicked.boot"].startswith("the boot failed (panic): Kernel panic")
    assert reasons["torn.boot"].startswith("the manifest is damaged")
    flags = compare_exact(arm, arm).flags
    assert [flag.kind for flag in flags] == ["excluded"] * 4


def test_an_arm_in_which_nothing_came_up_is_unhealthy(tmp_path: Path) -> None:
    failed = make_bundle(tmp_path, failed=True)
    with pytest.raises(UnhealthyBootError, match="the boot failed"):
        read_arm(failed)
    assert run(["compare", str(failed), str(failed)]) == 4


def other_shift(manifest: dict[str, Any]) -> None:
    executed = manifest["totals"]["instructions"]
    manifest["clock"]["icount_shift"] = 3
    manifest["totals"] |= {"virtual_ns": (executed << 3) + manifest["totals"]["idle_ns"]}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (other_shift, "icount shift"),
        (lambda manifest: manifest["clock"].update(origin="kernel_start"), "clock"),
        (lambda manifest: manifest.update(mode="live"), "mode"),
    ],
)
def test_figures_that_do_not_mean_the_same_are_refused(
    tmp_path: Path, how: Callable[[dict[str, Any]], object], said: str
) -> None:
    one, other = make_bundle(tmp_path), change(make_bundle(tmp_path, name="b.boot"), how)
    with pytest.raises(CompareError, match=said) as raised:
        check_comparable(firstlight.open(one), firstlight.open(other))
    assert raised.value.hint
    assert run(["compare", str(one), str(other)]) == 1


def test_boots_between_other_marks_are_refused(tmp_path: Path) -> None:
    one, other = make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot")
    marks = pl.read_parquet(other / "marks.parquet")
    write_table(other, "marks", marks.with_columns(pl.col("mark").replace("ready", "login")))
    with pytest.raises(CompareError, match=r"last mark: `a.boot` is `ready`, `b.boot` `login`"):
        check_comparable(firstlight.open(one), firstlight.open(other))


def test_boots_of_two_modes_are_no_arm(tmp_path: Path) -> None:
    make_bundle(tmp_path / "arm", name="a.boot")
    make_bundle(tmp_path / "arm", name="b.boot", live=True)
    with pytest.raises(CompareError, match=r"have the same mode: `a.boot` has exact, `b.boot` live"):
        read_arm(tmp_path / "arm")


def test_less_evidence_on_one_side_is_flagged(tmp_path: Path) -> None:
    one = make_bundle(tmp_path)
    partial = change(
        make_bundle(tmp_path, name="b.boot", append="x"),
        lambda manifest: manifest.update(completeness={"complete": False, "missing": ["the report of the guest"]}),
    )
    (flag,) = compare_exact(read_arm(one), read_arm(partial)).flags
    assert flag.kind == "completeness"
    assert "`b.boot` has incomplete evidence: the report of the guest" in flag.text
    assert kinds(one, make_bundle(tmp_path, name="c.boot", profile=False)) == ["profile"]


def test_the_same_inputs_with_other_tables_are_unstable(tmp_path: Path) -> None:
    assert kinds(make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=2)) == ["unstable"]


def test_bundles_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    for arm in ("x", "y"):
        (tmp_path / arm).mkdir()
    own, other = make_bundle(tmp_path / "x"), make_bundle(tmp_path / "y", live=True)
    assert own.name == other.name
    with pytest.raises(CompareError, match="differ in their mode") as caught:
        check_comparable(firstlight.open(own), firstlight.open(other))
    assert f"`{own}` is recorded in exact mode, `{other}` in live mode" in caught.value.message


def test_boots_that_are_ready_by_another_condition_are_refused(tmp_path: Path) -> None:
    own = make_bundle(tmp_path)
    chosen = change(make_bundle(tmp_path, name="b.boot"), lambda each: each["recipe"].update(ready="console:Run /init"))
    with pytest.raises(CompareError, match="differ in their last mark") as caught:
        check_comparable(firstlight.open(own), firstlight.open(chosen))
    assert "`b.boot` `ready (console:Run /init)`" in caught.value.message


def test_exact_boots_of_an_arm_that_differ_are_refused(tmp_path: Path) -> None:
    single = make_bundle(tmp_path)
    for seed in (1, 2):
        make_bundle(tmp_path / "arm", name=f"{seed}.boot", seed=seed)
    with pytest.raises(CompareError, match="exact recordings but not equal"):
        compare_exact(read_arm(single), read_arm(tmp_path / "arm"))


def test_boots_of_two_recipes_are_no_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    single = make_bundle(tmp_path)
    for words in ("quiet", "splash"):
        make_bundle(tmp_path / "arm", name=f"{words}.boot", append=words)
    assert run(["compare", str(single), str(tmp_path / "arm")]) == 1
    said = capsys.readouterr().err
    assert "must have the same recipe: `quiet.boot` and `splash.boot` differ in `command_line`" in said


def test_one_noisy_boot_a_side_is_described_and_settles_nothing(tmp_path: Path) -> None:
    one, other = (str(make_bundle(tmp_path, name=name, live=True)) for name in ("a.boot", "b.boot"))
    assert "one_boot" in kinds(Path(one), Path(other))
    assert run(["compare", one, other]) == 0
    assert run(["compare", one, other, "--strict"]) == 5


def test_one_noisy_boot_against_several_is_refused(tmp_path: Path) -> None:
    single = make_bundle(tmp_path, live=True)
    for name in ("1.boot", "2.boot"):
        make_bundle(tmp_path / "arm", name=name, live=True)
    with pytest.raises(CompareError, match="one boot per arm is not enough in live mode"):
        compare_exact(read_arm(single), read_arm(tmp_path / "arm"))
    assert not is_noisy(read_arm(single), read_arm(tmp_path / "arm"))
    assert is_noisy(read_arm(tmp_path / "arm"), read_arm(tmp_path / "arm"))


def test_inputs_that_differ_are_named_and_paths_do_not_count(tmp_path: Path) -> None:
    one = make_bundle(tmp_path)
    other = make_bundle(tmp_path, name="b.boot", append="quiet lpj=4000000")

    def how(manifest: dict[str, Any]) -> None:
        manifest["recipe"] |= {"kernel": "/elsewhere/vmlinuz", "memory": "1G"}
        manifest["digests"]["qemu"] = "0" * 64
        manifest["versions"]["qemu"] = "QEMU emulator version 10.0.2"

    change(other, how)
    found = {
        each.name: each.detail for each in input_changes(*(firstlight.open(path).manifest for path in (one, other)))
    }
    assert found == {
        "command_line": "+ quiet, + lpj=4000000",
        "memory": "",
        "qemu": "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18) became QEMU emulator version 10.0.2",
    }


def test_a_copy_of_a_boot_is_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = make_bundle(tmp_path)
    shutil.copytree(one, tmp_path / "copy.boot")
    assert run(["compare", str(one), str(tmp_path / "copy.boot"), "--strict"]) == 0
    assert "Equal: all tables of both boots are equal." in capsys.readouterr().out


def test_what_only_one_record_tells_is_not_called_new(tmp_path: Path) -> None:
    one, other = make_imported(tmp_path), make_imported(tmp_path, "b.boot")
    spans = pl.read_parquet(other / "spans.parquet")
    write_table(other, "spans", spans.filter(pl.col("kind") != "unit"))
    difference = compare_exact(read_arm(one), read_arm(other))
    assert difference.path.units is None
    assert "only `imported.boot` has units: they are not compared" in [flag.text for flag in difference.flags]


@pytest.fixture(scope="module")
def noisy_arms(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two directories of live boots that vary."""
    directory = tmp_path_factory.mktemp("arms")
    for arm, seed in (("a", 0), ("b", 100)):
        for number in range(6):
            make_bundle(directory / arm, name=f"{number}.boot", live=True, seed=seed + number)
    return str(directory / "a"), str(directory / "b")


def test_noisy_arms_are_compared_by_statistics(noisy_arms: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *noisy_arms, "--json", "--describe", "--soft", "1.5", "--seed", "7"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    assert (found["regime"], found["soft_percent"], found["seed"]) == ("noisy", 1.5, 7)
    assert len(found["a_ns"]) == len(found["b_ns"]) == 6
    assert found["description"]["a"]["median"] > 0
    assert all(level["sum_less_whole_scaled"] == 0 for level in found["levels"])


def test_a_noisy_comparison_that_does_not_tell_is_inconclusive(
    noisy_arms: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *noisy_arms, "--strict", "--soft", "0.001"]) == 5
    assert "inconclusive: these boots are not enough to decide" in capsys.readouterr().out


def test_a_noisy_comparison_as_markdown_has_its_verdict_and_tables_that_add_up(
    noisy_arms: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *noisy_arms, "--markdown"]) == 0
    said = capsys.readouterr().out
    assert "**inconclusive**: these boots are not enough to decide" in said
    assert "#### Phases, means" in said
    assert {line.count("|") for line in said.splitlines() if line.startswith("|")} == {10}
