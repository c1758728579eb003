"""The page with the scores: `docs/reference/corpus.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

from corpus.figures import Figure, Tally
from corpus.truth import Truth

_HEAD = """# Scores of the importer

`make corpus` derives records from exact boots, degrades them as records are in practice, imports them, and compares the
result with the boots. This page is its output. [Corpus](../design/corpus.md) explains figures and degradations.

"""


def page(by_case: Mapping[str, Tally], by_boot: Mapping[str, Tally], truths: Iterable[Truth]) -> str:
    """The page as Markdown."""
    degradations = list(dict.fromkeys(case.partition(" / ")[2] for case in by_case))
    formats = list(dict.fromkeys(case.partition(" / ")[0] for case in by_case))
    parts = [_HEAD, "## Scores by degradation\n\n", _figures("Degradation", _joined(by_case, degradations, 2))]
    parts += ["\n## Scores by format\n\n", _figures("Format", _joined(by_case, formats, 0))]
    parts += ["\n## Scores by format and degradation\n\nEach cell is the mean of the figures of a case.\n\n"]
    rows = [["Degradation", *formats]]
    for degradation in degradations:
        rows.append([degradation, *(_mean(by_case.get(f"{name} / {degradation}")) for name in formats)])
    parts += [_table(rows), "\n## Scores by boot\n\n", _figures("Kernel", by_boot)]
    parts += ["\n## Boots\n\nA recording that contradicts itself about an initcall gives no truth for it.\n\n"]
    rows = [["Kernel", "Messages", "Initcalls", "Initcalls without a truth", "Probes", "Deferrals"]]
    for truth in truths:
        deferred = sum(probe.is_deferred for probe in truth.probes)
        counts = (len(truth.messages), len(truth.initcalls), truth.doubted, len(truth.probes) - deferred, deferred)
        rows.append([truth.name, *(f"{count:,}" for count in counts)])
    return "".join([*parts, _table(rows)])


def _joined(by_case: Mapping[str, Tally], names: Iterable[str], part: int) -> dict[str, Tally]:
    joined = {name: Tally() for name in names}
    for case, tally in by_case.items():
        joined[case.partition(" / ")[part]].add(tally)
    return joined


def _figures(what: str, tallies: Mapping[str, Tally]) -> str:
    used = [figure for figure in Figure if any(tally.expected[figure] for tally in tallies.values())]
    rows = [[what, *(figure.value.capitalize() for figure in used)]]
    for name, tally in tallies.items():
        shares = tally.shares()
        rows.append([name, *(_percent(shares[figure]) if figure in shares else "" for figure in used)])
    return _table(rows)


def _mean(tally: Tally | None) -> str:
    """Of what the importer does right: how much a record shows of userspace is the record's own."""
    if tally is None:
        return ""
    return _percent(fmean(share for figure, share in tally.shares().items() if figure != Figure.USERSPACE_SURE))


def _percent(share: float) -> str:
    return "100 %" if share == 1 else f"{min(share * 100, 99.9):.1f} %"


def _table(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---", *("--:" for _ in head[1:])], *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
