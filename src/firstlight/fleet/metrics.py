"""Figures of a fleet for Prometheus, as OpenMetrics text, and a dashboard of Grafana that shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from firstlight.errors import UsageError
from firstlight.exporters.openmetrics_text import Labels, family, sample
from firstlight.fleet.analyses.joined import TOTAL
from firstlight.fleet.analyses.regressed import RegressionVerdict
from firstlight.fleet.layout import Fleet
from firstlight.fleet.questions import Answer, Asked, Question, answer
from firstlight.quantities import exact_seconds
from firstlight.schema.spans import SpanKind
from firstlight.suggest import one_of

#: Columns of quantiles, and the quantile's label.
_QUANTILES: Mapping[str, str] = {"p50_ns": "0.5", "p90_ns": "0.9", "p99_ns": "0.99", "largest_ns": "1"}
#: Labels that the figures have besides the attributes.
_OWN_LABELS = frozenset({"quantile", "kind", "part"})
#: The parts whose quantiles can be exported.
PARTS = (Question.PHASES, Question.INITCALLS, Question.UNITS, Question.PROCESSES)


class FleetFormat(StrEnum):
    """What a fleet is exported to."""

    OPENMETRICS = "openmetrics"
    GRAFANA = "grafana"


def fleet_openmetrics(
    fleet: Fleet,
    parts: Sequence[str] = (),
    *,
    where: str = "",
    by: Sequence[str] = (),
    between: tuple[str, str] | None = None,
) -> str:
    """Quantiles of a fleet as OpenMetrics 1.0 text: of the whole boot, of its phases, and of the parts asked for.

    :param parts: which ones, of :data:`PARTS`; phases are always there.
    :param where: conditions on attributes.
    :param by: the attributes that become labels; by default `model` and `kernel`.
    :param between: two kernels: the parts that changed from the first to the second are exported, too.
    :raises UsageError: for an attribute that the fleet lacks, an empty fleet, or parts that have no quantiles.
    :raises FirstlightError: when a file is missing or damaged.
    """
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"there are no quantiles of `{part}`", where="--parts", hint=one_of(part, PARTS))
    asked = dict.fromkeys([Question.PHASES, *map(Question, parts)])
    answers = [answer(fleet, Asked(question, where, tuple(by))) for question in asked]
    changes = answer(fleet, Asked(Question.REGRESSED, where, between=between)) if between is not None else None
    return "\n".join(_lines(answers, changes)) + "\n"


def _lines(answers: Sequence[Answer], changes: Answer | None) -> Iterator[str]:
    by = answers[0].by
    rows = [row for each in answers for row in each.rows.to_dicts()]
    totals = [row for row in rows if row["kind"] == TOTAL]
    yield from family("fleet_boots", "gauge", "", "Boots that came up.")
    yield from (sample("fleet_boots", _labels(row, by), str(row["boots"])) for row in totals)
    yield from family("fleet_boots_left_out", "gauge", "", "Boots that did not come up, of the whole fleet.")
    yield sample("fleet_boots_left_out", (), str(answers[0].left_out))
    yield from family("fleet_boot_seconds", "summary", "seconds", "Boot time; quantile 1 is the slowest boot.")
    for row in totals:
        yield from _summary("fleet_boot_seconds", _labels(row, by), row)
    yield from family(
        "fleet_part_seconds", "summary", "seconds", "Time of a part of the boot; for processes, CPU time."
    )
    for row in rows:
        if row["kind"] != TOTAL:
            part = (("kind", row["kind"]), ("part", row["name"]))
            yield from _summary("fleet_part_seconds", (*_labels(row, by), *part), row)
    if changes is not None:
        text = f"Change of a part's median from kernel {changes.old} to {changes.new}, as a share; changed parts only."
        yield from family("fleet_part_change_ratio", "gauge", "ratio", text)
        for row in changes.rows.to_dicts():
            if RegressionVerdict(row["verdict"]).is_change:
                kernels = (("old", changes.old or ""), ("new", changes.new or ""))
                labels = (*_labels(row, changes.by), ("kind", row["kind"]), ("part", row["name"]), *kernels)
                yield sample("fleet_part_change_ratio", labels, repr(row["change"]))
    yield "# EOF"


def _labels(row: Mapping[str, Any], by: Sequence[str]) -> Labels:
    return tuple((label_of(name), str(row[name])) for name in by)


def label_of(attribute: str) -> str:
    """The label of an attribute; one that the figures use themselves gets another name.

    >>> label_of("model"), label_of("part")
    ('model', 'attribute_part')
    """
    return f"attribute_{attribute}" if attribute in _OWN_LABELS else attribute


def _summary(name: str, labels: Labels, row: Mapping[str, Any]) -> Iterator[str]:
    for column, quantile in _QUANTILES.items():
        yield sample(name, (*labels, ("quantile", quantile)), exact_seconds(round(row[column])))
    yield sample(f"{name}_count", labels, str(row["boots"]))


def grafana_dashboard(by: Sequence[str]) -> str:
    """A dashboard of Grafana that shows what :func:`fleet_openmetrics` writes, as JSON for *Import dashboard*.

    :param by: the attributes that are labels; each becomes a variable of the dashboard.

    Source: https://grafana.com/docs/grafana/latest/visualizations/dashboards/build-dashboards/view-dashboard-json-model/

    >>> [panel["title"] for panel in json.loads(grafana_dashboard(["model"]))["panels"]][:2]
    ['Boot time, median', 'Boot time, slowest hundredth']
    """
    labels = [label_of(name) for name in by]
    chosen = ",".join(f'{label}=~"${label}"' for label in labels)
    legend = " ".join(f"{{{{{label}}}}}" for label in labels) or "all boots"
    boots = f"fleet_boots{{{chosen}}}"

    def boot(quantile: str) -> str:
        return f'fleet_boot_seconds{{{_joined(chosen)}quantile="{quantile}"}}'

    def part(kind: SpanKind) -> str:
        return f'fleet_part_seconds{{{_joined(chosen)}quantile="0.5",kind="{kind}"}}'

    panels = [
        _panel(1, "Boot time, median", "timeseries", "s", [(boot("0.5"), legend)], (0, 0, 12)),
        _panel(2, "Boot time, slowest hundredth", "timeseries", "s", [(boot("0.99"), legend)], (12, 0, 12)),
        _panel(3, "Phases, median", "bargauge", "s", [(part(SpanKind.PHASE), f"{{{{part}}}} {legend}")], (0, 9, 12)),
        _panel(4, "Largest initcalls, median", "bargauge", "s",
               [(f"topk(15, {part(SpanKind.INITCALL)})", f"{{{{part}}}} {legend}")], (12, 9, 12)),
        _panel(5, "Parts that a release made slower", "table", "percentunit",
               [("sort_desc(fleet_part_change_ratio > 0)", "{{part}}")], (0, 18, 12)),
        _panel(6, "Boots", "stat", "none", [(boots, legend)], (12, 18, 12)),
    ]  # fmt: skip
    dashboard = {
        "__inputs": [{
            "name": "DS_PROMETHEUS", "label": "Prometheus", "type": "datasource", "pluginId": "prometheus",
            "pluginName": "Prometheus",
        }],
        "uid": "firstlight-fleet",
        "title": "Boot times of a fleet",
        "tags": ["firstlight", "boot"],
        "schemaVersion": 39,
        "editable": True,
        "time": {"from": "now-30d", "to": "now"},
        "templating": {"list": [_variable(label) for label in labels]},
        "panels": panels,
    }  # fmt: skip
    return json.dumps(dashboard, indent=2) + "\n"


def _joined(chosen: str) -> str:
    return f"{chosen}," if chosen else ""


_SOURCE = {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}


def _panel(
    number: int, title: str, kind: str, unit: str, queries: Sequence[tuple[str, str]], place: tuple[int, int, int]
) -> dict[str, Any]:
    """One panel; *place* is its column, its row and its width on a grid of 24 columns."""
    x, y, width = place
    instant = kind != "timeseries"
    return {
        "id": number,
        "title": title,
        "type": kind,
        "datasource": _SOURCE,
        "gridPos": {"x": x, "y": y, "w": width, "h": 9},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "options": {},
        "targets": [
            {
                "refId": chr(ord("A") + place), "datasource": _SOURCE, "expr": query, "legendFormat": legend,
                "instant": instant, "range": not instant, "format": "table" if kind == "table" else "time_series",
            }
            for place, (query, legend) in enumerate(queries)
        ],
    }  # fmt: skip


def _variable(label: str) -> dict[str, Any]:
    query = f"label_values(fleet_boots, {label})"
    return {
        "name": label, "label": label.replace("_", " "), "type": "query", "datasource": _SOURCE, "definition": query,
        "query": {"query": query, "refId": label}, "refresh": 2, "includeAll": True, "multi": True, "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }  # fmt: skip
