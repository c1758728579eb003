"""Write crates/schema/vocabulary.toml as Rust, Python, TypeScript and Markdown, and declare the readers that it names.

``make vocabulary`` runs it; ``tests/unit/test_vocabulary.py`` compares what it makes with what is checked in.
"""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "crates/schema/vocabulary.toml"
NOTE = "Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit."
#: The module of each list, in Rust and in Python.
MODULES = {
    "marks": ("mark", "mark_source", "layer", "phase", "stage"),
    "spans": ("span_kind", "initcall_level", "grade", "link_kind", "call_kind", "call_row"),
    "code": ("code_kind", "function_source"),
    "records": ("clock", "channel", "problem", "failure", "format", "reason"),
}
#: The lists that the page uses.
PAGE = ("span_kind", "call_kind")
#: Where a family of readers declares them, between two comments.
READERS = re.compile(r"(?<=// Readers\. " + re.escape(NOTE) + r"\n).*?(?=// End of the readers\.\n)", re.DOTALL)

#: The pages of records, and where the list of formats has its links to them, between two comments.
PAGES = ROOT / "docs/reference/formats/records"
INDEX = ROOT / "docs/reference/formats/index.md"
LINKS = re.compile(r"(?<=<!-- Pages\. " + re.escape(NOTE) + r" -->\n).*?(?=<!-- End of the pages -->\n)", re.DOTALL)
#: The headings of that list, and the families of readers below each.
HEADINGS = {
    "Kernel log and console": ("kernel_log",),
    "Traces and profiles": ("tracing", "function_log"),
    "systemd, journal and udev": ("systemd", "udev"),
    "Firmware and boot loader": ("firmware",),
    "Sampling and collections": ("sampling", "collection"),
}


@dataclass(frozen=True)
class Name:
    """One name of a list."""

    name: str
    doc: str
    aliases: tuple[str, ...] = ()
    common: bool = False
    phase: str | None = None
    layer: str | None = None
    mark: str | None = None
    loses: bool = False
    reader: str | None = None

    @property
    def variant(self) -> str:
        """Its name in Rust: ``power_on`` is ``PowerOn``."""
        return "".join(part.capitalize() for part in self._words)

    @property
    def constant(self) -> str:
        """Its name in Python: ``power_on`` is ``POWER_ON``."""
        return "_".join(self._words).upper()

    @property
    def _words(self) -> list[str]:
        return re.findall(r"[^][ _-]+", self.name)


@dataclass(frozen=True)
class Names:
    """A list of the vocabulary."""

    key: str
    type: str
    doc: str
    names: tuple[Name, ...]
    columns: tuple[str, ...] = field(default=())


def read(source: Path = SOURCE) -> list[Names]:
    """Return the lists of the vocabulary."""

    def name(told: dict[str, Any]) -> Name:
        return Name(**told | {"aliases": tuple(told.get("aliases", ()))})

    return [
        Names(key, told["type"], told["doc"], tuple(map(name, told["names"])), tuple(told.get("columns", ())))
        for key, told in tomllib.loads(source.read_text()).items()
    ]


def rust(lists: list[Names]) -> Iterator[tuple[str, str]]:
    """Return name and text of every module of the crate's ``vocabulary``: the enums, and in ``mod`` what links them."""
    by_key = {one.key: one for one in lists}
    for module, keys in MODULES.items():
        lines = [f"//! Names of {module}. {NOTE}", ""]
        for one in (by_key[key] for key in keys):
            lines += ["names! {", f"    /// {one.doc}", f"    {one.type} {{"]
            for name in one.names:
                spellings = " | ".join(f'"{spelling}"' for spelling in (name.name, *name.aliases))
                lines.append(f'        {name.variant} = {spellings}: "{name.doc}",')
            lines += ["    }", "}", ""]
        yield module, "\n".join(lines)
    lines = [
        f"//! The vocabulary. {NOTE}",
        "",
        *(f"mod {module};" for module in sorted(MODULES)),
        "",
        *(f"pub use {module}::*;" for module in sorted(MODULES)),
        "",
        "use crate::aliases::Aliases;",
        "",
    ]
    marks, problems, levels = (by_key[key].names for key in ("mark", "problem", "initcall_level"))
    variants = {(one.key, name.name): f"{one.type}::{name.variant}" for one in lists for name in one.names}
    phases = {m: f"Some({variants['phase', m.phase]})" for m in marks if m.phase}
    layers = {m: variants["layer", str(m.layer)] for m in marks}
    level_marks = {n: f"Some({variants['mark', n.mark]})" for n in levels if n.mark}
    marked = {
        by_name: f"Some(InitcallLevel::{n.variant})" for n in levels for by_name in marks if by_name.name == n.mark
    }
    stage_marks = {s: variants["mark", str(s.mark)] for s in by_key["stage"].names}
    lines += [
        "impl Mark {",
        *_match("phase", "The phase that it begins; none: it divides no phases.", "Option<Phase>", phases),
        "",
        *_match("initcall_level", "The level whose first initcall starts at it.", "Option<InitcallLevel>", marked),
        "",
        *_match("layer", "The layer of software that it belongs to.", "Layer", layers),
        "}",
        "",
        "impl InitcallLevel {",
        *_match(
            "mark",
            "The mark at which its first initcall starts; consoles and modules have none.",
            "Option<Mark>",
            level_marks,
        ),
        "}",
        "",
        "impl Stage {",
        *_match("mark", "The mark at which it starts.", "Mark", stage_marks),
        "}",
        "",
        "impl ProblemKind {",
        "    /// Whether evidence is missing because of it.",
        "    pub const fn loses(self) -> bool {",
        "        matches!(",
        "            self,",
        "            " + "\n                | ".join(f"Self::{p.variant}" for p in problems if p.loses),
        "        )",
        "    }",
        "}",
        "",
        "/// By `table.column`, the spellings of earlier schema versions and what they are now.",
        "pub const ALIASES: Aliases = &[",
        *(
            f'    ("{column}", &[' + ", ".join(f'("{old}", "{new}")' for old, new in renamed.items()) + "]),"
            for column, renamed in aliases(lists).items()
        ),
        "];",
        "",
    ]
    yield "mod", "\n".join(lines).replace("&[\n]", "&[]")


def _match(function: str, doc: str, returns: str, values: dict[Name, str]) -> list[str]:
    """Return a function that gives each name its value; names of the same value share an arm."""
    names: dict[str, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(f"Self::{name.variant}")
    arms = []
    for value, variants in names.items():
        if len(arm := f"            {' | '.join(variants)} => {value},") > 120:
            arm = "            " + "\n            | ".join(variants) + f" => {value},"
        arms.append(arm)
    rest = ["            _ => None,"] if returns.startswith("Option") else []
    head = [f"    /// {doc}", f"    pub const fn {function}(self) -> {returns} {{", "        match self {"]
    return [*head, *arms, *rest, "        }", "    }"]


def aliases(lists: list[Names]) -> dict[str, dict[str, str]]:
    """Return by ``table.column`` the spellings of earlier schema versions, and what they are now."""
    # What an old name of a phase is now depends on the boot's marks: readers have a function for it.
    renamed = {one.key: old_names(one) for one in lists if one.key != "phase"}
    return {column: renamed[one.key] for one in lists if renamed.get(one.key) for column in one.columns}


def old_names(one: Names) -> dict[str, str]:
    """Return the spellings of earlier schema versions in one list, and what they are now."""
    return {old: name.name for name in one.names for old in name.aliases}


def python(lists: list[Names]) -> Iterator[tuple[str, str]]:
    """Return name and text of every module of ``firstlight.schema``."""
    by_key = {one.key: one for one in lists}
    for module, keys in MODULES.items():
        lines = [
            f'"""Names of {module}. {NOTE}"""',
            "",
            "from __future__ import annotations",
            "",
            "from collections.abc import Mapping" if module == "marks" else "",
            "from enum import StrEnum",
            "",
        ]
        for one in (by_key[key] for key in keys):
            lines += ["", f"class {one.type}(StrEnum):", f'    """{one.doc}"""', ""]
            for name in one.names:
                lines.append(f'    {name.constant} = "{name.name}"')
            lines.append("")
        if module == "marks":
            for table, type_, attribute, about in (
                ("PHASE_OF", "Phase", "phase", "The phase that a mark begins; other marks divide no phases."),
                ("LAYER_OF", "Layer", "layer", "The layer of software that a mark belongs to."),
            ):
                lines += ["", f"{table}: Mapping[Mark, {type_}] = {{"]
                for mark in by_key["mark"].names:
                    if told := getattr(mark, attribute):
                        lines.append(f"    Mark.{mark.constant}: {type_}.{told.upper()},")
                lines += ["}", f'"""{about}"""', ""]
        if module == "records":
            losing = [name for name in by_key["problem"].names if name.loses]
            lines += ["", "LOSING: frozenset[ProblemKind] = frozenset(", "    {"]
            lines += [f"        ProblemKind.{name.constant}," for name in losing]
            lines += ["    }", ")", '"""Problems because of which evidence is missing."""', ""]
        text = "\n".join(lines)
        yield module, re.sub(r"\n\n\n\n+", "\n\n\n", text.replace("\n\n\nfrom enum", "\n\nfrom enum"))
    renamed = aliases(lists)
    yield (
        "aliases",
        "\n".join(
            [
                f'"""Spellings of earlier schema versions. {NOTE}"""',
                "",
                "from __future__ import annotations",
                "",
                "from collections.abc import Mapping",
                "",
                "ALIASES: Mapping[str, Mapping[str, str]] = {",
                *(f'    "{column}": {json.dumps(names)},' for column, names in renamed.items()),
                "}",
                '"""By ``table.column``, the old names and the present ones; `bundle.older` has those of phases."""',
                "",
                *(
                    line
                    for key in ("phase", "mark")
                    for line in (
                        f"{key.upper()}_ALIASES: Mapping[str, str] = {json.dumps(old_names(by_key[key]))}",
                        f'"""The old names of {key}s and the present ones."""',
                        "",
                    )
                ),
            ]
        ),
    )


def typescript(lists: list[Names]) -> str:
    """Return the types of the page."""
    lines = [f"// {NOTE}", ""]
    for one in lists:
        if one.key not in PAGE:
            continue
        texts = [f'"{name.name}"' for name in one.names]
        short = f"export type {one.type} = {' | '.join(texts)};"
        long = [f"export type {one.type} =", *(f"  | {text}" for text in texts[:-1]), f"  | {texts[-1]};"]
        lines += [f"/** {one.doc} */", *([short] if len(short) <= 120 else long), ""]
    return "\n".join(lines)


def markdown(lists: list[Names]) -> str:
    """Return the reference page."""
    lines = ["# Vocabulary", "", *textwrap.wrap(f"The names that a bundle stores. {NOTE}", 120), ""]
    for one in lists:
        places = f" Columns: {', '.join(f'`{column}`' for column in one.columns)}." if one.columns else ""
        with_phase = any(name.phase for name in one.names)
        lines += [f"## {one.type}", "", one.doc + places, ""]
        lines += ["| name | begins the phase | meaning |" if with_phase else "| name | meaning |"]
        lines += ["|---|---|---|" if with_phase else "|---|---|"]
        for name in one.names:
            phase = f" {f'`{name.phase}`' if name.phase else ''} |" if with_phase else ""
            old = f" Before: {', '.join(f'`{alias}`' for alias in name.aliases)}." if name.aliases else ""
            star = " Evidence is missing." if name.loses else ""
            # Sentences are shown as they stand.
            doc = f"`` {name.doc} ``" if one.key == "reason" else name.doc
            lines.append(f"| `{name.name}` |{phase} {doc}{star}{old} |")
        lines.append("")
    return "\n".join(lines)


def readers(formats: Names) -> Iterator[tuple[Path, str]]:
    """Return path and text of every family's module, which declares its readers in the order of the vocabulary."""
    families: dict[str, list[str]] = {}
    for name in formats.names:
        family, reader = str(name.reader).split("::", 1)
        families.setdefault(family, []).append(reader)
    for family, types in families.items():
        path = ROOT / f"crates/formats/src/{family}/mod.rs"
        modules = sorted({reader.split("::")[0] for reader in types})
        lines = [
            *(f"pub(crate) mod {module};" for module in modules),
            "",
            "/// The readers of this family.",
            "#[rustfmt::skip]",
            "pub static FORMATS: &[&dyn crate::format::Format] = &[",
            *textwrap.wrap(
                ", ".join(f"&{reader}" for reader in types) + ",", 110, initial_indent="    ", subsequent_indent="    "
            ),
            "];",
            "",
        ]
        text, places = READERS.subn(lambda _: "\n".join(lines), path.read_text())  # noqa: B023
        if places != 1:
            raise SystemExit(f"{path}: there is no place for its readers")
        yield path, text


def index(formats: Names) -> str:
    """Return the list of formats with a link to each page of records.

    A page is listed by its title, below the family of the format that its first evidence has.
    """
    families = {name.name: str(name.reader).split("::")[0] for name in formats.names}
    pages = []
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text()
        title, first = re.match(r"# (.+)\n", text), re.search(r"^format ([a-z0-9-]+),", text, re.MULTILINE)
        if title is None or first is None or first[1] not in families:
            raise SystemExit(f"{path}: a title, and evidence of a known format, are needed")
        pages.append((families[first[1]], f"- [{title[1]}](records/{path.name})"))
    lines = [""]
    for heading, chosen in HEADINGS.items():
        lines += [f"### {heading}", "", *(link for family, link in pages if family in chosen), ""]
    text, places = LINKS.subn(lambda _: "\n".join(lines), INDEX.read_text())
    if places != 1:
        raise SystemExit(f"{INDEX}: there is no place for its links")
    return text


def files(lists: list[Names]) -> dict[Path, str]:
    """Return every file that is made of the vocabulary, and its text."""
    formats = next(one for one in lists if one.key == "format")
    return {
        **{ROOT / f"crates/schema/src/vocabulary/{module}.rs": text for module, text in rust(lists)},
        **dict(readers(formats)),
        INDEX: index(formats),
        ROOT / "web/src/schema.ts": typescript(lists),
        ROOT / "docs/reference/vocabulary.md": markdown(lists),
        **{ROOT / f"src/firstlight/schema/{module}.py": text for module, text in python(lists)},
    }


if __name__ == "__main__":
    for path, text in files(read()).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
