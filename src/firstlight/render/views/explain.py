"""The known causes that a boot has: the ranked list, one cause with all its evidence, and what trials said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from firstlight.advise.coverage import Lack
from firstlight.advise.entry import Entry, Remedy
from firstlight.advise.findings import LEAST_SHARE, Certainty, Explanation, Finding
from firstlight.advise.prove import Proof, Tried, cannot_prove
from firstlight.bundle.boot import Boot
from firstlight.bundle.describe import clock_text
from firstlight.escape import printable
from firstlight.quantities import share_text, signed_time, small_share_text, time_text
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import BLANK, Block, Line, pairs
from firstlight.render.model.table import Column, Table, Value, table
from firstlight.render.views.heading import completeness_text

_BAR = 24
_TEXT = 400
_STYLES = {Proof.PROVED: "green", Proof.PARTLY: "yellow", Proof.REFUTED: "red", Proof.UNTRIED: "dim"}


def explain_report(
    boot: Boot, found: Explanation, limit: int, tried: Sequence[Tried] = (), *, proving: bool = False
) -> Iterator[Block]:
    """The causes, the most expensive first, and what is the emulated machine's own.

    :param limit: how many causes are shown.
    :param tried: trials of some of them.
    :param proving: trials were asked for.
    """
    yield from _heading(boot, found)
    if not found.findings:
        yield Line(_none_found(found))
    else:
        yield causes_table(found.findings, limit, tried)
        for each in found.findings[:limit]:
            yield BLANK
            yield from _short(each, found.whole_ns)
    if proving:
        yield from _untried(boot, tried)
    if found.features:
        yield BLANK
        yield replace(causes_table(found.features, limit), title="Costs of features: each remedy gives one up")
    if found.machine:
        yield BLANK
        yield machine_table(found)
    if found.unpriced:
        yield BLANK
        yield unpriced_table(found.unpriced, limit)
    if lacks := found.coverage.lacks:
        yield BLANK
        yield Line(_looked_for(found))
        yield Line(_hint(lacks), "dim")
    if found.findings:
        yield BLANK
        yield Line(
            f"`firstlight explain {printable(boot.directory.name, 100)} {found.findings[0].entry.id}` shows one cause "
            f"with all its evidence{'; `--prove` boots with each remedy' if cannot_prove(boot) is None else ''}.",
            "dim",
        )


def _untried(boot: Boot, tried: Sequence[Tried]) -> Iterator[Line]:
    """Why remedies were not tried, and what to do about it."""
    if (reason := cannot_prove(boot)) is not None:
        yield BLANK
        yield Line(f"Nothing is proved: {printable(reason.why, _TEXT)}.", "yellow")
        yield Line(f"hint: {reason.hint}", "dim")
    elif untried := [each for each in tried if each.proof is Proof.UNTRIED]:
        yield BLANK
        yield from map(trial_line, untried)


def _none_found(found: Explanation) -> str:
    looked, least = found.coverage.entries, small_share_text(LEAST_SHARE)
    if looked == found.entries:
        return f"None of the {found.entries} known causes takes {least} of this boot."
    return f"None of the {looked} causes that could be looked for is known to take {least} of this boot."


def _looked_for(found: Explanation) -> str:
    """How many causes could be looked for, and without what the others could not.

    >>> import firstlight
    >>> _looked_for(firstlight.open(bundle).explain()).endswith("no processes, no system calls.")
    True
    """
    lacks = ", ".join(f"no {lack.what}" for lack in found.coverage.lacks)
    return f"{found.coverage.entries} of {found.entries} known causes could be looked for in this boot: it has {lacks}."


def _hint(lacks: Sequence[Lack]) -> str:
    return f"hint: {'; '.join(dict.fromkeys(lack.hint for lack in lacks))}"


def _heading(boot: Boot, found: Explanation) -> list[Line]:
    goal = f", until {printable(found.goal, 100)} ({time_text(found.whole_ns)})" if found.goal else ""
    return [
        Line(f"Known causes, {clock_text(boot)}{goal}", "bold", wrap=False),
        Line(f"{completeness_text(boot)}; {found.coverage.entries} entries checked", "dim", wrap=False),
        BLANK,
    ]


def causes_table(found: Sequence[Finding], limit: int, tried: Sequence[Tried] = ()) -> Table:
    """The ranked causes with what each costs here and what removes it.

    Costs of causes that share time do not add up; the column says so.
    """
    trials = {each.finding.entry.id: each for each in tried}
    shown, rest = found[:limit], found[limit:]
    left = {"cause": f"({len(rest)} more)"} if rest else None
    return table(
        "",
        [
            Column("Entry", value=lambda each: each.entry.id, style="cyan", fixed=True, name="entry"),
            Column("Cause", value=lambda each: each.entry.title, longest=60, name="cause"),
            Column("Costs here", "time", lambda each: each.cost.ns, style="bold", name="cost_ns"),
            Column("Share", "share", lambda each: each.share, name="share"),
            Column("", "picture", lambda each: Bar(each.share, _BAR), style="blue", wide=110),
            Column("How sure", value=lambda each: str(each.certainty), wide=90, name="certainty"),
            Column("Shares with", value=_shared_text, optional=True, wide=120, longest=40, name=""),
            Column("Remedy", value=lambda each: remedy_text(each.remedy), wide=100, longest=60, name=""),
            Column("Tried", "change", lambda each: _gain(trials.get(each.entry.id)), optional=True, name="tried_ns"),
            Column("", value=lambda each: _proof(trials.get(each.entry.id)), optional=True, name="proof"),
        ],
        shown,
        left_out=left,
    )


def machine_table(found: Explanation) -> Table:
    """What looks like a cause and is for the most part the emulated machine's own."""
    return table(
        "Costs of the emulated machine, not of this system",
        [
            Column("Entry", value=lambda each: each.entry.id, style="cyan", fixed=True, name="entry"),
            Column("Cause", value=lambda each: each.entry.title, longest=60, name="cause"),
            Column("Costs here", "time", lambda each: each.cost.ns, name="cost_ns"),
            Column("Due to emulation", "time", lambda each: each.cost.machine_ns, wide=80, name="machine_ns"),
        ],
        found.machine,
    )


def unpriced_table(found: Sequence[Finding], limit: int) -> Table:
    """Causes that the boot shows and whose cost it does not show."""
    shown, rest = found[:limit], found[limit:]
    return table(
        "Seen in this boot, at an unknown cost",
        [
            Column("Entry", value=lambda each: each.entry.id, style="cyan", fixed=True, name="entry"),
            Column("Cause", value=lambda each: each.entry.title, longest=60, name="cause"),
            Column("Seen", value=lambda each: each.seen[-1].text, wide=90, longest=60, name="text"),
            Column("Remedy", value=lambda each: remedy_text(each.remedy), wide=100, longest=60, name=""),
        ],
        shown,
        left_out={"cause": f"({len(rest)} more)"} if rest else None,
    )


def _gain(tried: Tried | None) -> Value:
    return "" if tried is None or tried.gain_ns is None else -tried.gain_ns


def _proof(tried: Tried | None) -> str:
    return "" if tried is None else str(tried.proof)


def _shared_text(finding: Finding) -> str:
    return ", ".join(f"{each.entry} {time_text(each.ns)}" for each in finding.shares)


def _short(finding: Finding, whole_ns: int) -> Iterator[Line]:
    entry = finding.entry
    yield Line(f"{entry.id}  {printable(entry.title, _TEXT)}", "bold")
    yield Line(printable(entry.mechanism, _TEXT), indent=2, head="  ")
    yield from pairs(
        [
            ("seen", printable("; ".join(seen.text for seen in finding.seen), 2 * _TEXT)),
            ("costs", _cost_text(finding, whole_ns)),
            ("remedy", printable(remedy_text(finding.remedy), _TEXT)),
            ("gain", _gain_text(finding)),
            ("risk", printable(entry.risk, _TEXT)),
        ]
    )


def _cost_text(finding: Finding, whole_ns: int) -> str:
    if finding.certainty is Certainty.UNKNOWN:
        return "unknown: no evidence of it has a time"
    parts = [f"{time_text(finding.cost.ns)} ({share_text(finding.cost.ns, whole_ns)}), {finding.certainty}"]
    if finding.cost.waits_ns:
        parts.append(f"the path sleeps for {time_text(finding.cost.waits_ns)} of it")
    if finding.cost.machine_ns:
        parts.append(f"{time_text(finding.cost.machine_ns)} of this is due to the emulated machine")
    if finding.special_ns:
        parts.append(f"ranked by the {time_text(finding.own_ns)} that more specific causes do not explain")
    if finding.shares:
        parts.append(f"shared with {_shared_text(finding)}: these costs do not add up")
    return "; ".join(parts)


def _gain_text(finding: Finding) -> str:
    """What the remedy is expected to save here, and what it saved where it was measured."""
    here = "unknown" if finding.certainty is Certainty.UNKNOWN else f"up to {time_text(finding.gain_ns)}"
    return f"{here} here; known effect: {printable(finding.entry.effect, _TEXT)}"


def finding_report(boot: Boot, found: Explanation, finding: Finding, tried: Sequence[Tried] = ()) -> Iterator[Block]:
    """One cause with all its evidence, its remedies, and what a trial said."""
    entry = finding.entry
    yield from _heading(boot, found)
    yield from entry_lines(entry)
    yield BLANK
    yield table(
        "Evidence in this boot",
        [Column("Kind", value=lambda seen: seen.item.kind, style="cyan", fixed=True, name="kind"),
         Column("What was observed", value=lambda seen: seen.text, longest=160, name="text")],
        finding.seen,
    )  # fmt: skip
    yield BLANK
    yield from pairs([("costs", _cost_text(finding, found.whole_ns))])
    if finding in found.machine:
        yield Line("Most of this is a cost of the emulated machine, not of this system.", "yellow")
    elif finding in found.smaller and finding.certainty is not Certainty.UNKNOWN:
        yield Line(f"It takes less than {small_share_text(LEAST_SHARE)} of the boot.", "yellow")
    for each in tried:
        yield BLANK
        yield trial_line(each)
    if tried and (reason := cannot_prove(boot)) is not None:
        yield Line(f"hint: {reason.hint}", "dim")


def absent_report(boot: Boot, found: Explanation, entry: Entry) -> Iterator[Block]:
    """An entry that a boot does not show."""
    yield from _heading(boot, found)
    yield from entry_lines(entry)
    yield BLANK
    if lacks := found.coverage.blocked.get(entry.id):
        needed = " or ".join(f"no {lack.what}" for lack in lacks)
        yield Line(f"This entry could not be looked for: the boot has {needed}.", "yellow")
        yield Line(_hint(lacks), "dim")
        return
    yield Line("This boot does not show the evidence of this entry, or it shows evidence against it.", "yellow")


def entry_lines(entry: Entry) -> Iterator[Line]:
    """An entry of the catalogue."""
    yield Line(f"{entry.id}  {printable(entry.title, _TEXT)}  ({entry.nature})", "bold")
    yield Line(printable(entry.mechanism, _TEXT), indent=2, head="  ")
    yield from pairs(
        [
            *((f"remedy, {remedy.layer}", printable(remedy_text(remedy), _TEXT)) for remedy in entry.remedies),
            ("effect", printable(entry.effect, _TEXT)),
            ("risk", printable(entry.risk, _TEXT)),
            ("leave it alone", printable(entry.guard, _TEXT) or None),
            ("health checks", ", ".join(entry.checks) or None),
            ("source", printable(entry.source, _TEXT)),
        ]
    )


def trial_line(tried: Tried) -> Line:
    """What the boot with a remedy said."""
    style = _STYLES[tried.proof]
    if tried.gain_ns is None:
        return Line(f"{tried.finding.entry.id} {tried.proof}: {printable(tried.why, _TEXT)}", style)
    return Line(
        f"{tried.finding.entry.id} {tried.proof}: with the remedy the goal is reached "
        f"{signed_time(-tried.gain_ns)}, expected {signed_time(-tried.finding.gain_ns)}",
        style,
    )


def remedy_text(remedy: Remedy) -> str:
    """A remedy in one line.

    >>> from firstlight.advise.read import catalogue
    >>> remedy_text(catalogue().entry("CAL-04").remedies[0])
    'add `no_timer_check`'
    """
    parts = [
        _words_text(remedy),
        "remove " + ", ".join(f"`{each}`" for each in remedy.without) if remedy.without else "",
        "configure " + ", ".join(f"`{each}`" for each in remedy.kconfig) if remedy.kconfig else "",
        "write " + ", ".join(f"`{each}`" for each in remedy.files) if remedy.files else "",
        "mask " + ", ".join(f"`{each}`" for each in remedy.mask) if remedy.mask else "",
        f"initramfs with compression {remedy.compression}" if remedy.compression else "",
        f"processor {remedy.cpu}" if remedy.cpu else "",
        f"machine {remedy.machine}" if remedy.machine else "",
        f"memory {remedy.memory}" if remedy.memory else "",
        "remove devices of the machine" if remedy.without_options else "",
        remedy.by_hand,
    ]
    return "; ".join(part for part in parts if part)


def _words_text(remedy: Remedy) -> str:
    """What is added to the command line; a fact that no boot has given is named."""
    if not remedy.words:
        return ""
    facts = ", ".join(f"the value of `{name}` in the boot" for name in remedy.needed_facts)
    return f"add `{remedy.words}`" + (f" with {facts}" if facts else "")
