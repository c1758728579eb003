"""A gate that knows how far figures move by themselves, and what it tells GitHub and GitLab."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from bundles import make_bundle, write_table
from firstlight.cli.main import run
from firstlight.comparison.known_bands import band_of_recipe, store
from firstlight.comparison.noise_band import Band, BandBoot, BandRow, Range
from gate_boots import read, slower

PHASE = "initcalls_device"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a baseline of `a.boot` and the band of that boot: 3 ms of the whole, 1 ms of one phase."""
    monkeypatch.chdir(tmp_path)
    bundle = make_bundle(tmp_path)
    manifest = read(bundle)
    digests, totals = manifest["digests"], manifest["totals"]
    assert isinstance(digests, dict)
    assert isinstance(totals, dict)
    whole = totals["virtual_ns"]
    band = Band(
        made_at="2024-05-01T12:00:00+00:00", boot="a.boot", key="0", kernel=digests["kernel"], skipped=[],
        boots=[BandBoot(change="", virtual_ns=whole, instructions=None, idle_ns=None)],
        virtual_ns=Range(low=whole - 1_000_000, high=whole + 2_000_000), instructions=None, idle_ns=None,
        levels={"phases": [BandRow(name=PHASE, module="", kind="", low=5, high=1_000_005)]},
    )  # fmt: skip
    Path("band.json").write_text(band.model_dump_json())
    assert run(["bless", "a.boot", "--because", "the first one"]) == 0
    Path("gate.toml").write_text(f"[phase.{PHASE}]\nsoft = '0.01 %'\n")
    return tmp_path


def gate(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """Run a gate; its exit code, and outcome and text of every check."""
    capsys.readouterr()
    code = run(["gate", *words, "--json"])
    said = capsys.readouterr()
    rows = json.loads(said.out).get("data", {"checks": []})["checks"]
    return code, {row["name"]: (row["outcome"], row["text"]) for row in rows}


def test_a_change_within_the_band_fails_no_soft_limit_unless_asked(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower(place, "c.boot", PHASE, 2_500_000)
    assert gate(capsys, "c.boot")[0] == 3
    Path("strict.toml").write_text("[total]\nsoft = '0.2 %'\n")
    for rules in ([], ["--rules", "strict.toml"]):
        code, found = gate(capsys, "c.boot", "--band", "band.json", *rules)
        outcome, text = found["total: soft limit"]
        assert (code, outcome) == (0, "pass")
        assert text.endswith("3.000 ms is allowed; within the noise band of 3.000 ms")
    code, found = gate(capsys, "c.boot", "--band", "band.json", "--rules", "strict.toml", "--fail-within-band")
    assert (code, found["total: soft limit"][0]) == (3, "regression")
    assert "within the noise band" in found["total: soft limit"][1]


def test_without_rules_the_limit_is_the_noise_band_of_the_recipe(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = band_of_recipe(None, has_rootfs=False).total_ns
    for name, by, code in (("in.boot", shipped, 0), ("out.boot", shipped + 1, 3)):
        slower(place, name, PHASE, by)
        assert gate(capsys, name)[0] == code
    capsys.readouterr()
    run(["gate", "in.boot"])
    assert f"noise band: {shipped:,} ns (shipped, for the minimal guest;" in " ".join(capsys.readouterr().out.split())
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(place / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    key = json.loads(Path("baselines/baseline.json").read_text())["key"]
    store(Band.model_validate_json(Path("band.json").read_text()).model_copy(update={"key": key}))
    assert gate(capsys, "out.boot")[0] == 0
    run(["gate", "out.boot"])
    assert "calibrated on this recipe" in capsys.readouterr().out


@pytest.mark.parametrize(("release", "width_times"), [("6.1.99", 1), ("5.15.3", 15), ("6.12.1", 1)])
def test_of_a_series_of_kernels_without_a_band_only_large_changes_settle_anything(
    place: Path, release: str, width_times: int, capsys: pytest.CaptureFixture[str]
) -> None:
    known = band_of_recipe(None, has_rootfs=False, release=release)
    assert (known.doubt_ns > 0) == (width_times > 1)
    limit = known.total_ns * width_times
    for name, by, code in (("in.boot", limit, 0), ("out.boot", limit + 1, 3)):
        state_release(slower(place, name, PHASE, by), release)
        assert gate(capsys, name)[0] == code
    if known.doubt_ns:
        outcome, text = gate(capsys, "in.boot")[1]["total: soft limit"]
        assert outcome == "inconclusive"
        assert "no noise band is of this series of kernels" in text


def state_release(bundle: Path, release: str) -> None:
    """Let a boot be one of another release of the kernel."""
    facts = pl.read_parquet(bundle / "facts.parquet")
    is_release = pl.col("fact") == "kernel.release"
    write_table(bundle, "facts", facts.with_columns(value=pl.when(is_release).then(pl.lit(release)).otherwise("value")))


def test_a_change_beyond_its_band_and_a_hard_limit_stand(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "c.boot", PHASE, 2_500_000)
    code, found = gate(capsys, "c.boot", "--band", "band.json", "--rules", "gate.toml")
    outcome, text = found[f"{PHASE}: soft limit"]
    assert (code, outcome) == (3, "regression")
    assert "beyond the noise band of 1.000 ms" in text
    Path("hard.toml").write_text("[total]\nhard = '830 ms'\n")
    assert gate(capsys, "c.boot", "--band", "band.json", "--rules", "hard.toml")[0] == 3


def test_a_band_that_does_not_belong_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.json").write_text(Path("band.json").read_text().replace('"kernel":"', '"kernel":"f'))
    assert run(["gate", "a.boot", "--band", "other.json"]) == 1
    assert "another kernel than the baseline" in capsys.readouterr().err
    for number in range(2):
        make_bundle(place / "live", name=f"{number}.boot", live=True)
    assert run(["bless", "live", "--as", "live", "--because", "noisy"]) == 0
    assert run(["gate", "live", "--baseline", "live", "--band", "band.json"]) == 1
    assert "these boots vary" in capsys.readouterr().err


def test_github_is_told_what_failed_and_nothing_else(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "c.boot", PHASE, 2_500_000)
    capsys.readouterr()
    assert run(["gate", "a.boot", "--github"]) == 0
    assert "::" not in capsys.readouterr().out
    assert run(["gate", "c.boot", "--github"]) == 3
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    place_and_title, text = line.removeprefix("::error ").split("::", 1)
    assert place_and_title == "file=baselines/baseline.json,title=Boot time%3A total%3A soft limit"
    assert text.startswith("regression: changed by +2.500 ms")


def test_gitlab_finds_a_rule_again_by_its_fingerprint(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prints = []
    for name, by in (("c.boot", 2_500_000), ("d.boot", 5_000_000)):
        slower(place, name, PHASE, by)
        assert run(["gate", name, "--code-quality", "q.json"]) == 3
        (found,) = json.loads(Path("q.json").read_text())
        assert (found["severity"], found["location"]["lines"]) == ("major", {"begin": 1})
        assert found["location"]["path"] == "baselines/baseline.json"
        prints.append(found["fingerprint"])
    assert prints[0] == prints[1]
    assert run(["gate", "a.boot", "--code-quality", "q.json"]) == 0
    assert json.loads(Path("q.json").read_text()) == []


def test_annotations_and_data_are_not_mixed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["gate", "a.boot", "--github", "--json"]) == 2
    reported = capsys.readouterr()
    assert "`--github` cannot be combined with `--json`" in json.loads(reported.out)["error"]["message"]
    assert "`--github` cannot be combined with `--json`" in reported.err
