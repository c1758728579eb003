"""The reference page of the catalogue of known causes."""

from __future__ import annotations

from firstlight.advise.entry import Entry, EntryEvidence, Remedy
from firstlight.advise.read import catalogue

_HEAD = """# Known causes

The catalogue of `firstlight explain`: {number} causes of long boots with their evidence, remedies and risks.
`make reference` writes this page from `src/firstlight/advise/catalogue`, which has one file for each group.
[Entries of your own](formats/catalogue.md) are added with `--catalogue DIR`.
"""


def catalogue_page() -> str:
    """The page: a section for each group, and in it one for each entry."""
    entries = catalogue().entries
    parts = [_HEAD.format(number=len(entries))]
    for letters, group in catalogue().groups().items():
        parts.append(f"## {letters}\n")
        parts += [_entry(entry) for entry in group]
    return "\n".join(parts)


def _entry(entry: Entry) -> str:
    rows = [
        ("nature", str(entry.nature)),
        ("seen by", _evidence(entry)),
        *((f"remedy: {remedy.layer}", _remedy(remedy)) for remedy in entry.remedies),
        ("effect", entry.effect),
        ("risk", entry.risk),
        ("leave it alone", entry.guard),
        ("health checks", ", ".join(entry.checks)),
        ("source", entry.source),
    ]
    table = [f"| {name} | {_cell(text)} |" for name, text in rows if text]
    lines = [f"### {entry.id}: {entry.title}", "", entry.mechanism, "", "| | |", "|---|---|", *table, ""]
    return "\n".join(lines)


def _evidence(entry: Entry) -> str:
    parts = []
    if entry.all:
        parts.append("all of: " + "; ".join(map(_item, entry.all)))
    if entry.any:
        parts.append("one of: " + "; ".join(map(_item, entry.any)))
    if entry.more:
        parts.append("counts too: " + "; ".join(map(_item, entry.more)))
    if entry.general:
        parts.append("judged by what other causes leave of it")
    if entry.none:
        parts.append("not with: " + "; ".join(map(_item, entry.none)))
    return "<br>".join(parts)


def _item(item: EntryEvidence) -> str:
    given = item.model_dump(exclude_defaults=True)
    kind = item.kind
    value = given.pop(kind)
    shown = ", ".join(f"`{name}`" for name in value) if isinstance(value, tuple) else f"`{value}`"
    more = [f"{name} {_value(name, each)}" for name, each in given.items()]
    return f"{kind} {shown}" + (f" ({', '.join(more)})" if more else "")


def _value(name: str, value: object) -> str:
    if name in ("least", "after") and isinstance(value, int):
        return f"{value / 1e6:g} ms"
    if name == "share":
        return f"{value:g} %"
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in value)
    return f"`{value}`"


def _remedy(remedy: Remedy) -> str:
    from firstlight.render.views.explain import remedy_text

    return remedy_text(remedy)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
