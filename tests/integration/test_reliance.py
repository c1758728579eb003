"""Recordings whose invariants break: what is said of them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from answers import data_of_answer
from bundles import make_bundle, write_table
from firstlight.analysis.functions import select
from firstlight.analysis.mark_interval import measure
from firstlight.bundle.manifest import Concern, Invariant
from firstlight.bundle.reliability import broken_text
from firstlight.cli.main import run
from firstlight.comparison.boot_figures import take_sample
from firstlight.comparison.exact.difference import ExactDifference, exact_difference
from firstlight.comparison.sides.arms import CompareError
from firstlight.errors import BundleError
from firstlight.experiment.scaling.costs import parts_of
from firstlight.history.open_history import open_history
from firstlight.history.series import read_series
from firstlight.quantities import small_share_text
from gate_boots import slower

EVERYTHING = {"clock_is_qemus": {"concerns": "everything"}}
FUNCTIONS = {"entries_counted": {"concerns": "functions", "functions": ["dh_init", "mpi_powm"]}}
INITCALLS = {"initcalls_entered": {"concerns": "initcalls", "functions": ["dh_init"]}}
HOT = "mpihelp_submul_1"

Broken = dict[str, dict[str, Any]]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, with a sound boot `a.boot`; what is printed fits on its lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    make_bundle(tmp_path, doubtful={})
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run([*words]) == code
    said = capsys.readouterr()
    return said.out + said.err


def data(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert run([*words, "--json"]) == code
    return data_of_answer(capsys.readouterr().out)


def difference(place: Path, broken: Broken, **more: Any) -> ExactDifference:
    make_bundle(place, name="b.boot", seed=2, broken=broken, **more)
    return exact_difference(firstlight.open(place / "a.boot"), firstlight.open(place / "b.boot"))


def change_invariant(bundle: Path, **fields: object) -> None:
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["invariants"]["returns_matched"] = {"holds": False, "value": 1, **fields}
    path.write_text(json.dumps(manifest), encoding="utf-8")


class TestShow:
    def test_says_so_in_its_first_line(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        make_bundle(place, name="b.boot", broken={**FUNCTIONS, **INITCALLS})
        first = printed(capsys, "show", "b.boot").splitlines()[0]
        assert "NOT RELIABLE: 2 of 16 invariants are broken (affects functions, initcalls)" in first
        assert "RELIABLE" not in printed(capsys, "show", "a.boot")

    def test_lists_each_with_its_value_limit_concern_and_functions(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        make_bundle(place, name="b.boot", broken=FUNCTIONS)
        shown = printed(capsys, "show", "b.boot")
        line = "broken: entries_counted: found 3, allowed 0; concerns functions and their tree; names `dh_init`"
        assert line in shown
        assert "hint: `firstlight audit`" in shown

    def test_tells_transfers_through_a_thunk_that_is_not_known(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        told = {"holds": True, "value": 0, "functions": ["srso_alias"], "unknown_transfers": 12_345}
        make_bundle(place, name="b.boot", broken={"thunks_are_no_functions": told})
        assert (
            "Transfers: 12,345 went through `srso_alias`, a thunk that Firstlight does not know; they are charged to "
            "the functions that jumped there"
        ) in printed(capsys, "show", "b.boot")

    def test_tells_how_many_calls_are_doubtful_where_all_hold(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        make_bundle(place, name="b.boot", doubtful={HOT: 9})
        table = firstlight.open(place / "b.boot").calls()
        calls = int(table["calls"].sum())
        # A real root has been entered once; it is not a call, and the number is that of the function table.
        entered = pl.when(pl.col("kind") == "root").then(1).otherwise(pl.col("calls")).cast(pl.Int64)
        write_table(place / "b.boot", "calls", table.with_columns(calls=entered))
        in_phases = pl.read_parquet(place / "b.boot/phase_calls.parquet")
        root = in_phases.head(1).with_columns(pl.lit(0).cast(pl.Int64).alias(name) for name in
                                              ("node", "self_instructions", "self_ns"))  # fmt: skip
        write_table(place / "b.boot", "phase_calls", pl.concat([root, in_phases]))
        in_slices = pl.read_parquet(place / "b.boot/slice_calls.parquet")
        first = pl.DataFrame([dict.fromkeys(in_slices.columns, 0) | {"calls": 1}], schema=in_slices.schema)
        write_table(place / "b.boot", "slice_calls", pl.concat([first, in_slices]))
        assert select(firstlight.open(place / "b.boot").functions()).whole_count == calls
        shown = printed(capsys, "show", "b.boot")
        assert f"Invariants: all 16 hold; 9 of {calls:,} calls doubtful ({small_share_text(9 / calls)})" in shown
        assert "calls doubtful (0 %)" in printed(capsys, "show", "a.boot")

    def test_a_share_that_is_nearly_nothing_or_nearly_all_is_not_written_in_powers_of_ten(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bundle = make_bundle(place, name="b.boot")
        calls = firstlight.open(bundle).calls()
        entered = pl.when(pl.col("function") == HOT).then(100_000_000).otherwise(pl.col("calls"))
        for doubtful, share in ((9, "<0.01 %"), (99_999_999, ">99.99 %"), (100_000_000, "100 %")):
            at_hot = pl.when(pl.col("function") == HOT).then(doubtful).otherwise(0)
            write_table(
                bundle,
                "calls",
                calls.with_columns(
                    entered.cast(pl.Int64).alias("calls"), at_hot.cast(pl.Int64).alias("doubtful_calls")
                ),
            )
            line = next(line for line in printed(capsys, "functions", "b.boot").splitlines() if line.startswith(HOT))
            assert line.endswith(share)

    def test_has_all_of_it_as_data(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        make_bundle(place, name="b.boot", broken=FUNCTIONS, doubtful={HOT: 9})
        found = data(capsys, "show", "b.boot")
        assert found["broken_invariants"] == ["entries_counted"]
        assert found["doubtful_calls"]["doubtful"] == 9
        invariant = found["invariants"]["entries_counted"]
        assert (invariant["limit"], invariant["concerns"], invariant["functions"]) == (
            0, "functions", ["dh_init", "mpi_powm"],
        )  # fmt: skip


class TestManifest:
    def test_one_of_an_older_firstlight_concerns_everything(self, place: Path) -> None:
        change_invariant(place / "a.boot")
        invariant = firstlight.open(place / "a.boot").manifest.invariants["returns_matched"]
        assert (invariant.limit, invariant.concerns, invariant.functions) == (None, Concern.EVERYTHING, [])

    @pytest.mark.parametrize(
        ("field", "value"),
        [("limit", "1"), ("limit", 2**70), ("concerns", "nothing"), ("concerns", 1), ("functions", "x"),
         ("functions", [1])],
    )  # fmt: skip
    def test_a_field_that_does_not_fit_is_named(self, place: Path, field: str, value: object) -> None:
        change_invariant(place / "a.boot", **{field: value})
        with pytest.raises(BundleError, match=f"returns_matched.{field}"):
            firstlight.open(place / "a.boot")

    def test_hostile_names_and_figures_are_shown_as_text(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        change_invariant(place / "a.boot", functions=["\x1b[31mred"], unknown_transfers="many", value={"a": "\x1b[1m"})
        shown = printed(capsys, "show", "a.boot")
        assert "\x1b[31m" not in shown
        assert "\x1b[1m" not in shown


def test_functions_carry_the_share_of_their_doubtful_calls(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(place, name="b.boot", doubtful={HOT: 9})
    rows = {row["function"]: row for row in data(capsys, "functions", "b.boot")}
    row = rows[HOT]
    assert (row["doubtful_calls"], row["doubtful_share"]) == (9, 9 / row["count"])
    assert rows["dh_init"]["doubtful_calls"] == 0
    assert "Doubtful" in printed(capsys, "functions", "b.boot")
    assert "Doubtful" not in printed(capsys, "functions", "a.boot")
    head = printed(capsys, "functions", "b.boot", "--csv").splitlines()[0].split(",")
    assert head[-3:] == ["doubtful_calls", "doubtful_share", "machine_cost"]


def test_of_a_bundle_that_does_not_tell_nothing_is_known(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(place, name="old.boot")
    row = data(capsys, "functions", "old.boot")[0]
    assert (row["doubtful_calls"], row["doubtful_share"]) == (None, None)
    assert data(capsys, "show", "old.boot")["doubtful_calls"] is None


class TestCompare:
    def test_broken_functions_leave_the_functions_and_the_tree_out(self, place: Path) -> None:
        found = difference(place, FUNCTIONS)
        assert (found.functions, found.tree, found.moved, found.renamed) == (None, None, [], [])
        assert [level.name for level in found.levels] == ["phases", "initcalls", "path"]
        [flag] = [flag for flag in found.flags if flag.kind == "invariant"]
        assert "not compared: `b.boot` is not reliable there: entries_counted" in flag.text
        assert "firstlight audit" in flag.text

    def test_broken_functions_do_not_part_the_initcalls(self, place: Path) -> None:
        found = difference(place, FUNCTIONS)
        assert found.initcalls is not None
        # From their spans alone: those know no instructions that callees executed.
        assert all(row.a is None or row.a.instructions is None for row in found.initcalls.rows)

    def test_broken_initcalls_leave_initcalls_and_the_path_out(self, place: Path) -> None:
        found = difference(place, INITCALLS)
        assert [level.name for level in found.levels] == ["phases", "functions"]
        assert found.path.hidden == ()

    def test_what_concerns_everything_is_refused(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(CompareError, match=r"`b\.boot` is not reliable"):
            difference(place, EVERYTHING)
        said = printed(capsys, "compare", "a.boot", "b.boot", code=1)
        assert "clock_is_qemus" in said
        assert "hint:" in said

    @pytest.mark.parametrize("form", [[], ["--json"], ["--markdown"]])
    def test_every_form_says_what_is_refused(
        self, place: Path, capsys: pytest.CaptureFixture[str], form: list[str]
    ) -> None:
        make_bundle(place, name="b.boot", seed=2, broken={**FUNCTIONS, **INITCALLS})
        said = printed(capsys, "compare", "a.boot", "b.boot", *form).replace("\\", "")
        assert "functions, their tree and moved work are not compared" in said
        assert "initcalls and the critical path are not compared" in said

    def test_a_doubtful_function_is_marked_and_stands_last(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        make_bundle(place, name="sure.boot", seed=2)
        sure = exact_difference(firstlight.open(place / "a.boot"), firstlight.open(place / "sure.boot")).functions
        assert sure is not None
        worst = sure.changed[0].name
        found = difference(place, {}, doubtful={worst: 1_000_000})
        assert found.functions is not None
        assert found.functions.changed[-1].name == worst
        assert found.functions.changed[0].doubtful is None
        [flag] = [flag for flag in found.flags if flag.kind == "doubtful"]
        assert worst in flag.text
        rows = data(capsys, "compare", "a.boot", "b.boot")["comparisons"][0]["levels"]["functions"]["rows"]
        assert [row["name"] for row in rows if row["doubtful"] is not None] == [worst]

    def test_a_function_with_few_doubtful_calls_is_not_marked(self, place: Path) -> None:
        found = difference(place, {}, doubtful={HOT: 1})
        assert found.functions is not None
        assert all(row.doubtful is None for row in found.functions.rows)
        assert not [flag for flag in found.flags if flag.kind == "doubtful"]


class TestGate:
    @pytest.fixture(autouse=True)
    def blessed(self, place: Path) -> None:
        assert run(["bless", "a.boot", "--because", "the first one"]) == 0

    def test_a_boot_no_figure_of_which_is_reliable_is_unhealthy(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        make_bundle(place, name="b.boot", broken=EVERYTHING)
        found = data(capsys, "gate", "b.boot", code=4)
        assert found["verdict"] == "unhealthy"
        assert "its recording is not reliable: clock_is_qemus" in found["checks"][0]["text"]
        assert (found["phases"], found["functions"]) == ([], [])

    def test_such_a_boot_becomes_no_baseline(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        make_bundle(place, name="b.boot", broken=EVERYTHING)
        assert "is not reliable" in printed(capsys, "bless", "b.boot", "--because", "why not", code=4)

    def test_a_baseline_that_has_such_a_boot_is_unhealthy(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        make_bundle(place, name="b.boot")
        path = place / "baselines" / "baseline.json"
        kept = json.loads(path.read_text(encoding="utf-8"))
        kept["samples"][0] |= {"healthy": False, "unreliable": {"everything": "clock_is_qemus: 1 found"}}
        path.write_text(json.dumps(kept), encoding="utf-8")
        found = data(capsys, "gate", "b.boot", code=4)
        assert found["checks"][0]["name"] == "baseline a.boot: health"

    def test_functions_are_not_reported_where_they_are_not_reliable(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        make_bundle(place, name="b.boot", broken=FUNCTIONS)
        found = data(capsys, "gate", "b.boot")
        assert found["functions"] == []
        assert any("functions are not checked" in flag for flag in found["flags"])

    def test_phases_of_initcall_levels_are_refused_where_initcalls_are_not_reliable(
        self, place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        make_bundle(place, name="b.boot", broken=INITCALLS)
        assert data(capsys, "gate", "b.boot")["verdict"] == "pass"
        Path("rules.toml").write_text("[phase.initcalls_device]\nsoft = '1 %'\n", encoding="utf-8")
        found = data(capsys, "gate", "b.boot", "--rules", "rules.toml", code=4)
        [check] = [check for check in found["checks"] if check["what"] == "initcalls_device"]
        assert (check["outcome"], check["measured_ns"]) == ("unhealthy", None)


class TestWhatInherits:
    def test_an_experiment_counts_no_unreliable_boot(self, place: Path) -> None:
        bundle = make_bundle(place, name="b.boot", broken=EVERYTHING)
        with pytest.raises(BundleError, match="not reliable"):
            measure(firstlight.open(bundle))

    @pytest.mark.parametrize(("kind", "broken"), [("functions", FUNCTIONS), ("initcalls", INITCALLS)])
    def test_scaling_takes_no_parts_that_are_not_reliable(self, place: Path, kind: str, broken: Broken) -> None:
        boot = firstlight.open(make_bundle(place, name="b.boot", broken=broken))
        with pytest.raises(BundleError, match="not reliable"):
            parts_of(boot, kind)
        assert parts_of(boot, "phases")

    def test_a_history_keeps_no_functions_that_are_not_reliable(self, place: Path) -> None:
        slower(place, "b.boot", "initcalls_device", 1_000_000)
        bad = make_bundle(place, name="c.boot", broken=FUNCTIONS)
        boots = [firstlight.open(place / "a.boot"), firstlight.open(bad), firstlight.open(place / "b.boot")]
        with open_history(place / "h.duckdb", write=True) as history:
            for number, boot in enumerate(boots):
                history.add([boot], f"v{number}")
            assert [point.at for point in read_series(history, "function", HOT).points] == ["v0", "v2"]
            total = read_series(history)
            assert [point.at for point in total.points] == ["v0", "v1", "v2"]
            assert "reliable functions" in total.incomplete[0]

    def test_a_sample_of_a_gate_says_what_is_not_reliable(self, place: Path) -> None:
        sample = take_sample(firstlight.open(make_bundle(place, name="b.boot", broken=FUNCTIONS)))
        assert (sample.healthy, sample.functions, list(sample.unreliable)) == (True, {}, [Concern.FUNCTIONS])


def test_a_single_broken_invariant_is_reported_in_the_singular(place: Path) -> None:
    boot = firstlight.open(make_bundle(place, name="b.boot", broken=EVERYTHING))
    assert broken_text(boot.manifest) == "1 of 16 invariants is broken (affects everything)"


def test_recording_warns_of_a_broken_invariant(place: Path) -> None:
    from firstlight.lab.run.record import _warn_of_broken

    said: list[str] = []

    class Heard:
        def warn(self, text: str) -> None:
            said.append(text)

    boot = firstlight.open(make_bundle(place, name="b.boot", broken=FUNCTIONS))
    _warn_of_broken(boot.manifest, Heard())  # type: ignore[arg-type]
    _warn_of_broken(firstlight.open(place / "a.boot").manifest, Heard())  # type: ignore[arg-type]
    [text] = said
    assert text.startswith(
        "this recording is not reliable: 1 of 16 invariants is broken (affects functions): entries_counted"
    )
    assert Invariant(holds=True).concerns is Concern.EVERYTHING
