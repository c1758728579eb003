"""The figures of a fleet for Prometheus, and the dashboard that shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import firstlight
from firstlight.errors import UsageError
from firstlight.fleet.layout import Fleet
from invented_fleet import Group, make_fleet

OLD, NEW = "6.6.1", "6.12.1"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def fleet_of(directory: Path, **attributes: str) -> Fleet:
    """Two models with two kernels each, in the newer of which one initcall takes half as long again."""
    return make_fleet(directory / "fleet", [
        Group({"model": model, "kernel": kernel, **attributes}, 40, {"probe_7": 1.5} if kernel == NEW else {})
        for model in ("A", 'B "2"\n') for kernel in (OLD, NEW)
    ])  # fmt: skip


def families_of(text: str) -> list[Metric]:
    return list(text_string_to_metric_families(text))  # type: ignore[no-untyped-call]


def samples_of(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for metric in families_of(text)
        for sample in metric.samples
    }


def test_prometheus_reads_the_quantiles_that_show_prints(tmp_path: Path) -> None:
    fleet = fleet_of(tmp_path)
    written = firstlight.export_fleet(fleet.directory, "openmetrics", tmp_path / "a.prom", parts=["initcalls"])
    found = samples_of(written.read_text())
    count = 0
    for question in ("phases", "initcalls"):
        for row in firstlight.ask_fleet(fleet.directory, question).rows.to_dicts():
            total = row["kind"] == "total"
            # Control characters are escaped, so that no name breaks a line.
            model = row["model"].replace("\n", "\\n")
            labels = {("model", model), ("kernel", row["kernel"])}
            labels |= set() if total else {("kind", row["kind"]), ("part", row["name"])}
            name = "fleet_boot_seconds" if total else "fleet_part_seconds"
            for column, quantile in {"p50_ns": "0.5", "p90_ns": "0.9", "p99_ns": "0.99", "largest_ns": "1"}.items():
                key = (name, frozenset(labels | {("quantile", quantile)}))
                assert found[key] == pytest.approx(row[column] / 1e9, abs=1e-9)
            assert found[f"{name}_count", frozenset(labels)] == row["boots"]
            count += 1
    assert count == 4 * (4 + 40)
    assert found["fleet_boots", frozenset({("model", "A"), ("kernel", OLD)})] == 40
    assert found["fleet_boots_left_out", frozenset()] == 0


def test_what_a_release_changed_is_a_figure_of_its_own(tmp_path: Path) -> None:
    fleet = fleet_of(tmp_path)
    written = firstlight.export_fleet(fleet.directory, "openmetrics", tmp_path / "a.prom", between=(OLD, NEW))
    changed = {
        (dict(labels)["part"], dict(labels)["model"]): value
        for (name, labels), value in samples_of(written.read_text()).items()
        if name == "fleet_part_change_ratio"
    }
    assert {part for part, _ in changed} == {"probe_7"}
    assert len(changed) == 2
    assert all(0.4 < ratio < 0.6 for ratio in changed.values())


def test_an_attribute_called_like_a_label_of_the_figures_keeps_its_values(tmp_path: Path) -> None:
    fleet = fleet_of(tmp_path, part="P-1")
    written = firstlight.export_fleet(fleet.directory, "openmetrics", tmp_path / "a.prom", by=["part"])
    assert samples_of(written.read_text())["fleet_boots", frozenset({("attribute_part", "P-1")})] == 160


def test_the_dashboard_asks_for_figures_and_labels_that_are_exported(tmp_path: Path) -> None:
    fleet = fleet_of(tmp_path)
    figures = firstlight.export_fleet(
        fleet.directory, "openmetrics", tmp_path / "a.prom", parts=["initcalls"], between=(OLD, NEW)
    )
    families = {
        metric.name: {label for sample in metric.samples for label in sample.labels}
        for metric in families_of(figures.read_text())
    }
    board = json.loads(firstlight.export_fleet(fleet.directory, "grafana", tmp_path / "a.json").read_text())
    assert [variable["name"] for variable in board["templating"]["list"]] == ["model", "kernel"]
    ids = [panel["id"] for panel in board["panels"]]
    assert ids == sorted(set(ids))
    for panel in board["panels"]:
        for target in panel["targets"]:
            asked = re.findall(r"\b(fleet_\w+)(?:\{(.*?)\})?", target["expr"])
            assert asked
            for name, labels in asked:
                assert set(re.findall(r"(\w+)=", labels)) <= families[name]


@pytest.mark.parametrize(
    ("to", "options", "said"),
    [
        ("graphite", {}, "a fleet cannot be exported to `graphite`"),
        ("openmetrics", {"parts": ["outliers"]}, "there are no quantiles of `outliers`"),
        ("openmetrics", {"by": ["colour"]}, "the fleet has no attribute `colour`"),
        ("grafana", {"by": ["colour"]}, "the fleet has no attribute `colour`"),
        ("openmetrics", {"between": (OLD, "7.0")}, "no boot has kernel `7.0`"),
    ],
)
def test_what_cannot_be_exported_is_named(tmp_path: Path, to: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        firstlight.export_fleet(fleet_of(tmp_path).directory, to, tmp_path / "x", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()


def test_an_export_replaces_nothing_unless_it_is_told_to(tmp_path: Path) -> None:
    fleet = fleet_of(tmp_path).directory
    firstlight.export_fleet(fleet, "grafana", tmp_path / "a.json")
    with pytest.raises(firstlight.FirstlightError, match="this path already exists"):
        firstlight.export_fleet(fleet, "grafana", tmp_path / "a.json")
    firstlight.export_fleet(fleet, "grafana", tmp_path / "a.json", force=True)
