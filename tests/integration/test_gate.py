"""The gate: baselines, rules, verdicts, exit codes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

from bundles import make_bundle, make_recorded, write_table
from firstlight.cli.main import run
from firstlight.recipe.options import RecordOptions
from gate_boots import change, slower, without_profile

PHASE = "initcalls_device"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, with a boot `a.boot` blessed as `baseline`."""
    monkeypatch.chdir(tmp_path)
    make_bundle(tmp_path)
    assert run(["bless", "a.boot", "--because", "the first one"]) == 0
    return tmp_path


def gate(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, object]]:
    """Run a gate; its exit code and its data."""
    capsys.readouterr()
    code = run(["gate", *words, "--json"])
    said = capsys.readouterr()
    answer = json.loads(said.out)
    return code, answer.get("data", {"error": said.err})


def checks(data: dict[str, object]) -> dict[str, str]:
    """The outcome of every check, by its name."""
    rows = data["checks"]
    assert isinstance(rows, list)
    return {row["name"]: row["outcome"] for row in rows}


def test_an_equal_boot_passes_and_a_slower_one_is_a_regression(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(place, name="b.boot")
    assert gate(capsys, "b.boot")[0] == 0
    slower(place, "c.boot", PHASE, 2_000_000)
    code, data = gate(capsys, "c.boot")
    assert (code, data["verdict"], data["exit_code"]) == (3, "regression", 3)


def test_the_parts_of_a_change_add_up_and_name_its_place(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "c.boot", PHASE, 2_000_001)
    _, data = gate(capsys, "c.boot")
    for table in ("phases", "functions"):
        rows = data[table]
        assert isinstance(rows, list)
        *parts, whole = rows
        assert whole["change_ns"] == sum(row["change_ns"] for row in parts) == 2_000_001
        for side in ("before_ns", "after_ns"):
            assert whole[side] == sum(row[side] or 0 for row in parts)
    phases = data["phases"]
    assert isinstance(phases, list)
    assert [row["name"] for row in phases if row["change_ns"]] == [PHASE, "all"]


def test_a_change_within_the_soft_limit_passes_and_is_reported(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "c.boot", PHASE, 7)
    assert run(["gate", "c.boot"]) == 0
    assert "changed by +7 ns" in capsys.readouterr().out


def test_a_faster_boot_is_an_improvement(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "c.boot", PHASE, -2_000_000)
    code, data = gate(capsys, "c.boot")
    assert (code, data["verdict"]) == (0, "improvement")


def test_every_rule_is_judged_by_itself(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "gate.toml").write_text(f"""
        [total]
        soft = "1 %"
        hard = "831 ms"
        [every_phase]
        soft = "5 %"
        [phase.{PHASE}]
        hard = "1 ms"
    """)
    slower(place, "c.boot", PHASE, 2_000_000)
    code, data = gate(capsys, "c.boot", "--rules", "gate.toml")
    found = checks(data)
    assert code == 3
    assert found["total: soft limit"] == "pass"
    assert found["total: hard limit"] == "regression"
    assert found[f"{PHASE}: hard limit"] == "regression"
    assert found["firmware: soft limit"] == "pass"
    assert f"{PHASE}: soft limit" not in found


def test_a_floor_forgives_small_growth(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "c.boot", PHASE, 2_000_000)
    for floor, expected in (("1999999 ns", 3), ("2 ms", 0)):
        (place / "gate.toml").write_text(f'[total]\nsoft = "0 %"\nfloor = "{floor}"\n')
        assert gate(capsys, "c.boot", "--rules", "gate.toml")[0] == expected


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("total = 3\n", 'gate.toml: `total`: write limits as a table, such as { soft = "1 %" }'),
        ('[every_phase]\nfloor = "1 ms"\n', "`every_phase`: a floor without a soft limit checks nothing"),
        ('[phase.kernel]\nhard = "1 s"\nfloor = "1 ms"\n', "`phase.kernel`: a floor without a soft limit"),
    ],
)
def test_rules_that_cannot_be_or_check_nothing_are_named(
    place: Path, capsys: pytest.CaptureFixture[str], rules: str, said: str
) -> None:
    slower(place, "c.boot", PHASE, 0)
    (place / "gate.toml").write_text(rules)
    assert run(["gate", "c.boot", "--rules", "gate.toml"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_budget_covers_the_whole_boot(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "gate.toml").write_text(
        f'[budget]\ngoal = "900 ms"\n[budget.phases]\nfirmware = "1 ns"\n{PHASE} = "20 ms"\n'
    )
    code, data = gate(capsys, "a.boot", "--rules", "gate.toml")
    found = checks(data)
    assert code == 3
    assert found["firmware: budget"] == "regression"
    assert found["total: budget"] == "pass"
    rows = [row for row in data["checks"] if row["kind"] == "budget"]  # type: ignore[attr-defined]
    allowances = {row["what"]: row["limit_ns"] for row in rows}
    assert sum(ns for what, ns in allowances.items() if what != "total") == allowances["total"] == 900_000_000
    measured = {row["what"]: row["measured_ns"] for row in rows}
    assert sum(ns for what, ns in measured.items() if what != "total") == measured["total"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[total]\nsoft = 0.1\n", 'write a share with its sign, such as "0.5 %"'),
        ('[total]\nsoft = "0.1"\n', 'write a share with its sign, such as "0.5 %"'),
        ("[totl]\nsoft = 1\n", "did you mean `total`?"),
        ("[total]\nsfot = 1\n", "did you mean `soft`?"),
        ("[phase.firmware]\nhrad = '1 s'\n", "did you mean `hard`?"),
        ("[total]\nhard = 1600\n", "write a duration with its unit"),
        ("[total]\nsoft = -1\n", "write a share"),
        ("[phase.firmwear]\nhard = '1 s'\n", "did you mean `firmware`?"),
        ("[budget]\ngoal = '1 ms'\n[budget.phases]\nfirmware = '2 ms'\n", "1.000 ms more than the goal"),
        ("[total", "this is not TOML"),
    ],
)
def test_a_mistake_in_the_rules_is_named(place: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "gate.toml").write_text(text)
    assert run(["gate", "a.boot", "--rules", "gate.toml"]) == 2
    assert said in capsys.readouterr().err


def test_a_boot_that_did_not_come_up_is_unhealthy(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(place, name="f.boot", failed=True)
    code, data = gate(capsys, "f.boot", "--junit", "j.xml", "--markdown", "m.md", "--openmetrics", "o.txt",
                      "--hyperfine", "h.json", "--custom-smaller", "c.json")  # fmt: skip
    assert (code, data["verdict"]) == (4, "unhealthy")
    # A figure that was not measured is left out. As 0, a panic would be plotted as the fastest boot.
    text = (place / "m.md").read_text()
    assert "did not come up" in text
    assert "Phases:" not in text
    assert data["phases"] == data["functions"] == []
    assert 'arm="measured"' not in (place / "o.txt").read_text()
    assert json.loads((place / "c.json").read_text()) == []
    assert [row["command"] for row in json.loads((place / "h.json").read_text())["results"]] == ["baseline baseline"]
    assert run(["bless", "f.boot", "--because", "no"]) == 4


def test_a_phase_that_did_not_happen_did_not_take_no_time(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_bundle(place, name="c.boot")
    spans = pl.read_parquet(bundle / "spans.parquet")
    write_table(bundle, "spans", spans.with_columns(pl.col("name").replace(PHASE, "another")))
    by_phase = pl.read_parquet(bundle / "phase_calls.parquet")
    write_table(bundle, "phase_calls", by_phase.with_columns(pl.col("phase").replace(PHASE, "another")))
    (place / "named.toml").write_text(f"""
        [phase.{PHASE}]
        soft = "1 %"
        hard = "2 s"
        [budget]
        goal = "9 s"
        phases = {{ {PHASE} = "3 s" }}
    """)
    code, data = gate(capsys, "c.boot", "--rules", "named.toml", "--junit", "j.xml", "--openmetrics", "o.txt",
                      "--markdown", "m.md")  # fmt: skip
    assert (code, data["verdict"]) == (4, "unhealthy")
    found = checks(data)
    assert {found[f"{PHASE}: {kind}"] for kind in ("soft limit", "hard limit", "budget")} == {"unhealthy"}
    (place / "every.toml").write_text('[every_phase]\nsoft = "1 %"\n')
    code, data = gate(capsys, "c.boot", "--rules", "every.toml")
    assert checks(data)[f"{PHASE}: soft limit"] == "inconclusive"


def test_phases_of_one_side_are_named_also_where_only_the_total_is_checked(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(capsys, str(make_bundle(place, name="same.boot")))[1]["flags"] == [
        "all inputs are equal to the baseline's: nothing was changed"
    ]
    bundle = make_bundle(place, name="c.boot")
    for table, column in (("spans", "name"), ("phase_calls", "phase")):
        frame = pl.read_parquet(bundle / f"{table}.parquet")
        write_table(bundle, table, frame.with_columns(pl.col(column).replace(PHASE, "another")))
    flags = "\n".join(gate(capsys, "c.boot")[1]["flags"])  # type: ignore[arg-type]
    assert "the baseline lacks 1 phase of the other side: `another`" in flags
    assert f"the measured boots lack 1 phase of the other side: `{PHASE}`" in flags


def test_boots_that_lack_a_part_of_their_evidence_are_reported_everywhere(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = change(
        make_bundle(place, name="c.boot"), completeness={"complete": False, "missing": ["12 lines"], "share": 0.844}
    )
    capsys.readouterr()
    assert run(["bless", str(lacking), "--as", "part", "--because", "it is there"]) == 0
    told = capsys.readouterr()
    assert "note: c.boot: incomplete: 12 lines (it has 84.4 % of its records)" in told.err
    assert told.out == "baselines/part.json\n"
    assert "the baseline's c.boot: incomplete: 12 lines" in str(
        gate(capsys, "a.boot", "--baseline", "part")[1]["flags"]
    )
    assert run(["history", "add", "h.duckdb", "a.boot", "c.boot", "--at", "v1"]) == 0
    assert "incomplete: c.boot: 12 lines" in capsys.readouterr().err
    assert run(["history", "show", "h.duckdb"]) == 0
    assert "v1 (c.boot): 12 lines" in capsys.readouterr().out


def test_new_warnings_and_failed_units_are_reported_or_fail(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import polars as pl

    from bundles import write_table

    bundle = make_bundle(place, name="w.boot")
    facts = pl.read_parquet(bundle / "facts.parquet")
    more = pl.when(pl.col("fact") == "kernel.warnings").then(pl.lit("2")).otherwise(pl.col("value"))
    write_table(bundle, "facts", facts.with_columns(value=more))
    code, data = gate(capsys, "w.boot")
    assert code == 0
    assert "2 warnings of the kernel, the baseline has 0" in data["flags"]  # type: ignore[operator]
    (place / "gate.toml").write_text('[health]\nnew_warnings = "fail"\n')
    assert gate(capsys, "w.boot", "--rules", "gate.toml")[0] == 4


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"clock": {"icount_shift": 3}}, "the icount shift is 3, not 0"),
        ({"recipe": {"machine": "pc-q35-10.0"}}, "the machine is `pc-q35-10.0`, not `pc-i440fx-7.2`"),
        ({"versions": {"qemu": "QEMU 10"}}, "QEMU is `QEMU 10`, not"),
        ({"recipe": {"cpu": "max"}}, "the processor is `max`"),
    ],
)
def test_a_baseline_of_another_testbed_is_refused_with_the_reason(
    place: Path,
    fields: dict[str, object],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A boot by another clock would be another boot, too; here nothing but the testbed differs.
    monkeypatch.setattr("firstlight.bundle.open.contradiction", lambda manifest: None)
    monkeypatch.setattr("firstlight.bundle.boot.check_sums", lambda *given: None)
    change(make_bundle(place, name="b.boot"), **fields)
    assert run(["gate", "b.boot"]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "--other-testbed" in error
    code, data = gate(capsys, "b.boot", "--other-testbed")
    assert code == 0
    assert any(said in flag for flag in data["flags"])  # type: ignore[attr-defined]


def test_another_end_is_another_testbed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(make_bundle(place, name="b.boot"), recipe={"ready": "console:Run /init"})
    assert run(["gate", "b.boot"]) == 1
    assert "the mark where it ends is `ready (console:Run /init)`, not `ready`" in capsys.readouterr().err


def test_other_modes_and_other_memory(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(place, name="live.boot", live=True)
    assert run(["gate", "live.boot"]) == 1
    assert "the mode of recording is `live`, not `exact`" in capsys.readouterr().err
    change(make_bundle(place, name="m.boot"), recipe={"memory": "1024M"})
    code, data = gate(capsys, "m.boot")
    assert code == 0
    assert any("the memory is `1024M`, not `512M`" in flag for flag in data["flags"])  # type: ignore[attr-defined]


def live(place: Path, names: str, median_us: int, number: int, seed: int) -> list[str]:
    """Live boots around a length, one percent of noise."""
    draw = random.Random(seed)
    made = []
    for each in range(number):
        by = median_us * 1000 + round(draw.gauss(0, 8_000_000))
        made.append(slower(place, f"{names}{each}.boot", PHASE, by, live=True).name)
    return made


def test_noisy_boots_are_judged_by_their_interval(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = live(place, "before", 0, 12, 1)
    assert run(["bless", *before, "--as", "board", "--because", "the first one"]) == 0
    code, data = gate(capsys, *live(place, "same", 0, 12, 2), "--baseline", "board")
    assert (code, data["verdict"], data["regime"]) == (0, "pass", "noisy")
    code, data = gate(capsys, *live(place, "worse", 60_000, 12, 3), "--baseline", "board")
    assert (code, data["verdict"]) == (0, "inconclusive")
    total = next(row for row in data["checks"] if row["what"] == "total")  # type: ignore[attr-defined]
    assert total["text"].endswith("0 %; not confirmed by boots in turn with the baseline")
    assert run(["gate", "worse0.boot", *(f"worse{number}.boot" for number in range(1, 12)), "--baseline", "board",
                "--strict"]) == 5  # fmt: skip
    assert 2 < total["low_percent"] < total["change_percent"] < total["high_percent"] < 12


def test_medians_and_means_of_noisy_boots_are_told_apart_and_bridged(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bless", *live(place, "before", 0, 12, 1), "--as", "board", "--because", "the first one"]) == 0
    worse = live(place, "worse", 60_000, 12, 3)
    _, data = gate(capsys, *worse, "--baseline", "board")
    bridge, checks_of, phases = data["bridge"], data["checks"], data["phases"]
    assert isinstance(bridge, dict)
    assert isinstance(checks_of, list)
    assert isinstance(phases, list)
    total = next(row for row in checks_of if row["what"] == "total")
    assert bridge["headline_ns"] == pytest.approx(total["baseline_ns"] * total["change_percent"] / 100, abs=1)
    assert bridge["headline_ns"] + bridge["bridge_ns"] == bridge["mean_ns"] == phases[-1]["change_ns"]
    run(["gate", *worse, "--baseline", "board", "--markdown", "m.md", "--custom-smaller", "c.json"])
    for text in (capsys.readouterr().out, (place / "m.md").read_text()):
        assert "Phase, mean" in text
        assert "Rules use medians" in " ".join(text.split())
    assert json.loads((place / "c.json").read_text())[0]["extra"].endswith("mean of 12 boots")
    assert gate(capsys, "a.boot")[1]["bridge"] is None


def test_a_recipe_that_is_not_the_baselines_is_reported(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_recorded(place / "a.boot")
    assert run(["bless", "a.boot", "--because", "with its recipe"]) == 0
    slower(place, "b.boot", PHASE, 7)
    make_recorded(place / "b.boot", append="quiet")
    flags = gate(capsys, "b.boot")[1]["flags"]
    assert flags == ["the recipe differs from the baseline's: `append` (+ quiet)"]
    change(make_recorded(place / "b.boot"), digests={"kernel": "0" * 64})
    assert gate(capsys, "b.boot")[1]["flags"] == ["the recipe differs from the baseline's: `kernel`"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--json", "--markdown", "-"], "`--markdown` to standard output cannot be combined with `--json`"),
        (["--junit", "-", "--markdown", "-"], "`--junit` and `--markdown` both write to standard output"),
        (["--junit", "x", "--custom-smaller", "./x"], "`--junit` and `--custom-smaller` both write to `x`"),
    ],
)
def test_two_reports_never_go_to_one_place(
    place: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["gate", "a.boot", *words]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert json.loads(told.out)["error"]["message"] == said if "--json" in words else not told.out
    assert not (place / "x").exists()


def test_a_report_on_standard_output_stands_there_alone(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["gate", "a.boot", "--custom-smaller", "-", "--junit", "/dev/null", "--hyperfine", "/dev/null"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "boot"


def test_too_few_noisy_boots_are_inconclusive_and_fail_only_where_strict(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bless", *live(place, "before", 0, 2, 1), "--as", "board", "--because", "the first one"]) == 0
    one = live(place, "worse", 60_000, 1, 3)
    code, data = gate(capsys, *one, "--baseline", "board")
    assert (code, data["verdict"]) == (0, "inconclusive")
    assert gate(capsys, *one, "--baseline", "board", "--strict")[0] == 5


def test_a_baseline_needs_a_reason_and_keeps_that_of_the_one_before(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bless", "a.boot", "--because", " "]) == 2
    assert "needs a reason" in capsys.readouterr().err
    assert run(["bless", "a.boot", "--because", "new compiler"]) == 0
    kept = json.loads((place / "baselines" / "baseline.json").read_text())
    assert (kept["because"], kept["former"]) == ("new compiler", "the first one")
    assert kept["samples"][0]["virtual_ns"] == sum(phase["duration_ns"] for phase in kept["samples"][0]["phases"])
    assert kept["samples"][0]["inputs"]["kernel"]


def test_boots_of_two_recipes_are_refused_for_that_and_not_called_unequal(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bundle(place, name="q.boot", seed=2, append="quiet")
    for command in (["gate", "a.boot", "q.boot"], ["bless", "a.boot", "q.boot", "--because", "two"]):
        assert run(command) == 2
        told = capsys.readouterr().err
        assert "q.boot: not of the same recipe as `a.boot`: they differ in `command_line` (+ quiet)" in told
        assert "firstlight verify" not in told


def test_exact_boots_of_one_recipe_that_differ_are_no_baseline(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "c.boot", PHASE, 1)
    assert run(["bless", "a.boot", "c.boot", "--because", "both"]) == 1
    assert "that are not equal" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{}", "{" * 100_000, '{"format": "firstlight baseline 9"}', "\xff"])
def test_a_damaged_baseline_is_reported(place: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "baselines" / "baseline.json").write_bytes(text.encode("latin-1"))
    assert run(["gate", "a.boot"]) == 2
    assert "baseline.json" in capsys.readouterr().err


def test_a_baseline_with_a_time_below_zero_is_rejected(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = place / "baselines" / "baseline.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["samples"][0]["virtual_ns"] *= -1
    path.write_text(json.dumps(data), encoding="utf-8")
    assert run(["gate", "a.boot"]) == 2
    assert "has no time above 0" in capsys.readouterr().err


def test_a_missing_baseline_is_reported_with_what_makes_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "a.boot", "--baseline", "other"]) == 2
    assert "hint: `firstlight baseline set BOOT --as other" in capsys.readouterr().err
    assert run(["gate", "a.boot", "--baseline", "../other"]) == 2


@pytest.mark.parametrize(("really", "code", "said"), [(60, 3, "total: +"), (0, 0, "no alarm is confirmed")])
def test_an_alarm_of_noisy_boots_is_tried_again_in_fresh_pairs(
    place: Path,
    really: int,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw = random.Random(7)

    def boot(options: RecordOptions, progress: object = None) -> Path:
        by = really * 1_000_000 if options.append else 0
        made = slower(options.output.parent, options.output.name, PHASE, by + round(draw.gauss(0, 8e6)), live=True)
        return make_recorded(made, append=options.append, live=True)

    monkeypatch.setattr("firstlight.gate.confirm.record", boot)
    before = [boot(RecordOptions(output=place / f"x{number}.boot")).name for number in range(12)]
    assert run(["bless", *before, "--as", "board", "--because", "the first one"]) == 0
    after = []
    for name in live(place, "worse", 60_000, 12, 3):
        after.append(make_recorded(place / name, append="slow", live=True).name)
    found, data = gate(capsys, *after, "--baseline", "board", "--confirm", "--pairs", "12")
    assert found == code
    assert said in data["confirmation"]["text"]  # type: ignore[index]
    assert "12 new pairs in random order (seed " in data["confirmation"]["text"]  # type: ignore[index]


def test_phases_that_a_boot_without_profile_does_not_know_are_not_judged(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is equal to the nanosecond; which phase took how long is unknown."""
    without_profile(make_bundle(place, name="n.boot", profile=False))
    (place / "gate.toml").write_text(f"""
        [every_phase]
        soft = "1 %"
        [phase.{PHASE}]
        soft = "1 %"
        hard = "50 ms"
        [phase.firmware]
        hard = "1 s"
        [budget]
        goal = "900 ms"
        phases = {{ firmware = "200 ms", {PHASE} = "50 ms" }}
    """)
    code, data = gate(capsys, "n.boot", "--rules", "gate.toml")
    assert (code, data["verdict"]) == (0, "inconclusive")
    found = checks(data)
    assert found.pop("total: soft limit") == found.pop("total: budget") == "pass"
    assert found.pop("systemd units", "pass") == "pass"
    assert {outcome for name, outcome in found.items() if "health" not in name} == {"inconclusive"}
    phases = data["phases"]
    assert isinstance(phases, list)
    assert {row["change_ns"] for row in phases} == {0}
    assert gate(capsys, "n.boot", "--rules", "gate.toml", "--strict")[0] == 5
    assert gate(capsys, "n.boot")[0] == 0
    # A total that grew is known without a profile.
    without_profile(make_bundle(place, name="s.boot", profile=False, more=(PHASE, 9_000_000)))
    assert gate(capsys, "s.boot", "--rules", "gate.toml")[1]["verdict"] == "regression"


def test_a_baseline_without_profile_judges_no_phase_but_by_its_limit(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without_profile(make_bundle(place, name="n.boot", profile=False))
    assert run(["bless", "n.boot", "--as", "bare", "--because", "no profile"]) == 0
    (place / "gate.toml").write_text(f'[phase.{PHASE}]\nsoft = "1 %"\nhard = "1 ns"\n')
    code, data = gate(capsys, "a.boot", "--baseline", "bare", "--rules", "gate.toml")
    found = checks(data)
    assert (code, found[f"{PHASE}: soft limit"], found[f"{PHASE}: hard limit"]) == (3, "inconclusive", "regression")


@pytest.mark.parametrize("unknown_in", ["baseline", "boot"])
def test_health_that_one_side_does_not_report_is_not_judged(
    place: Path, unknown_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, facts in (("with.boot", ["kernel.warnings", "systemd.failed"]), ("bare.boot", [])):
        bundle = make_bundle(place, name=name)
        rows = [*((fact, "") if fact == "systemd.failed" else (fact, "9") for fact in facts)]
        write_table(bundle, "facts", pl.DataFrame(rows, schema={"fact": pl.String, "value": pl.String}, orient="row"))
    names = ("bare.boot", "with.boot") if unknown_in == "baseline" else ("with.boot", "bare.boot")
    assert run(["bless", names[0], "--as", "half", "--because", "facts"]) == 0
    (place / "gate.toml").write_text('[health]\nnew_warnings = "fail"\nfailed_units = "fail"\n')
    code, data = gate(capsys, names[1], "--baseline", "half", "--rules", "gate.toml", "--strict")
    found = checks(data)
    assert code == 5
    assert {outcome for name, outcome in found.items() if name.endswith("health")} == {"inconclusive"}
