"""The vocabulary: what is made of it is checked in, and its names stand nowhere else."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import cast

import polars as pl
import pytest

from firstlight import schema
from firstlight.bundle.tables import read_table
from firstlight.schema.aliases import ALIASES
from firstlight.schema.marks import PHASE_OF, Mark, Phase
from firstlight.schema.spans import SpanKind
from vocabulary_literals import literals, rust

ROOT = Path(__file__).parents[2]


def load(path: Path) -> ModuleType:
    """A script of ``make`` as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


vocabulary = load(ROOT / "make/vocabulary.py")
LISTS = vocabulary.read()
DISTINCTIVE = {name.name for one in LISTS for name in one.names if not name.common}

#: Texts that are not names of the vocabulary but are spelled like one, by file.
EXCEPTIONS = {
    "crates/oracle/src/text.rs": {"[boot]", "[kernel without symbol]"},  # the oracle shares no code with the recorder
    "crates/plugin/src/layout.rs": {"vdso"},  # a member of a structure of the kernel
    "src/firstlight/advise/coverage.py": {"initcall"},  # a key of a catalogue's evidence
    "src/firstlight/advise/entry.py": {"initcall"},  # the same key
    "src/firstlight/advise/evidence.py": {"initcall"},  # the same key
    "src/firstlight/analysis/devices.py": {"initcall"},  # a column: the initcall that a probe ran in
    "src/firstlight/analysis/uevents.py": {"blocked_by"},  # a column: the event that held this one back
    "src/firstlight/audit/observed.py": {"before_kernel"},  # a key of the oracle's output
    "src/firstlight/comparison/exact/level_parts.py": {"kernel_init"},  # a function of the kernel
    "src/firstlight/cli/log.py": {"untimed"},  # a key: the number of lines without a time
    "src/firstlight/comparison/exact/difference.py": {"doubtful"},  # the code of a flag
    "src/firstlight/recipe/isa/architecture.py": {"rest_init", "smp_init"},  # functions of the kernel
    "crates/isa/src/mips64el/architecture.rs": {"kernel_entry"},  # a function of the kernel
    "src/firstlight/recipe/isa/mips64el.py": {"kernel_entry"},  # the same
    "src/firstlight/render/difference_json.py": {"doubtful"},  # a key: the share of doubtful calls
    "src/firstlight/render/views/devices.py": {"blocked_by", "initcall"},  # columns
    "src/firstlight_studies/kernel_hotspots/figures.py": {"calibrate_delay"},  # a function of the kernel
    "src/firstlight_studies/root_filesystems/figures.py": {"calibrate_delay"},  # a function of the kernel
    "web/src/comparison/data.ts": {"uevent_service"},  # of type SpanKind: the compiler checks it
    "web/src/timing_sections.ts": {"initcall"},  # the label of a bar
}


def test_what_is_made_of_the_vocabulary_is_checked_in() -> None:
    made = vocabulary.files(LISTS)
    assert {path.relative_to(ROOT) for path, text in made.items() if path.read_text() != text} == set()
    modules = {path.stem for path in Path(str(schema.__file__)).parent.glob("*.py")} - {"__init__"}
    assert modules == {path.stem for path in made if path.suffix == ".py"}


def test_every_name_of_a_list_is_there_once() -> None:
    for one in LISTS:
        spellings = [spelling for name in one.names for spelling in (name.name, *name.aliases)]
        assert len(spellings) == len(set(spellings)), one.key


def test_no_file_repeats_a_name_of_the_vocabulary() -> None:
    assert literals(ROOT, DISTINCTIVE) == EXCEPTIONS


def test_every_reason_of_a_grade_is_in_the_vocabulary() -> None:
    files = [path for crate in ("formats", "merge") for path in sorted((ROOT / f"crates/{crate}/src").rglob("*.rs"))]
    spelled = re.compile(r'graded\(\s*Grade::\w+,\s*(?:"|format!)|reason = (?:Cow|Name)::\w+\((?:"|format!)')
    assert [path.name for path in files if spelled.search(path.read_text())] == []
    assert spelled.search('span.graded(Grade::Unknown, "still up")')
    used = {code for path in files for code in re.findall(r"ReasonCode::(\w+)", path.read_text())}
    assert used == {name.variant for one in LISTS if one.key == "reason" for name in one.names}


def test_merging_names_no_format() -> None:
    formats = {name.name for one in LISTS if one.key == "format" for name in one.names}
    files = sorted((ROOT / "crates/merge/src").rglob("*.rs"))
    assert {path.name: formats & set(rust(path.read_text())) for path in files} == {path.name: set() for path in files}
    assert not [path.name for path in files if "FormatName" in path.read_text()]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("crates/a/src/b.rs", 'let mark = "kernel_entry";', {"kernel_entry"}),
        (
            "crates/a/src/b.rs",
            '// "kernel_entry"\nlet line = b"kernel_entry"; let quote = \'"\'; let mark = "power_on";',
            {"power_on"},
        ),
        ("crates/a/src/b.rs", 'fn a() {}\n\n#[cfg(test)]\nmod tests {\n    const A: &str = "power_on";\n}', set()),
        ("crates/schema/src/b.rs", 'PowerOn = "power_on",', set()),
        (
            "src/firstlight/a/b.py",
            '"""What lies behind kernel_entry."""\nx = pl.col("mark") == "kernel_entry"',
            {"kernel_entry"},
        ),
        ("web/src/a.ts", "/* 'power_on' */ const kind = 'uevent_queued';", {"uevent_queued"}),
        ("web/src/a.test.ts", "const kind = 'uevent_queued';", set()),
    ],
)
def test_a_planted_literal_is_found(tmp_path: Path, path: str, text: str, found: set[str]) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert literals(tmp_path, DISTINCTIVE) == ({path: found} if found else {})


def test_a_spelling_of_an_earlier_schema_reads_as_the_present_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ["kind", "from_kind", "from_name", "to_kind", "to_name", "source"]
    pl.DataFrame([["follows", "unit", "follows", "unit", "b", "x"]], schema=columns, orient="row").write_parquet(
        tmp_path / "links.parquet"
    )
    assert read_table(tmp_path, "links")["kind"].to_list() == ["follows"]
    monkeypatch.setitem(cast(dict[str, dict[str, str]], ALIASES), "links.kind", {"follows": "after"})
    links = read_table(tmp_path, "links")
    assert (links["kind"].to_list(), links["from_name"].to_list()) == (["after"], ["follows"])


def test_polars_takes_a_name_for_its_text() -> None:
    frame = pl.DataFrame({"kind": ["initcall", None, "unit"]})
    kind = pl.col("kind")
    assert frame.filter(kind == SpanKind.INITCALL).height == 1
    assert frame.filter(kind.is_in([SpanKind.INITCALL, SpanKind.UNIT])).height == 2
    assert frame.select(kind.fill_null(SpanKind.PHASE)).to_series().to_list() == ["initcall", "phase", "unit"]
    assert frame.select(pl.lit(SpanKind.PHASE)).dtypes == [pl.String]


def test_a_mark_that_divides_has_a_phase() -> None:
    assert PHASE_OF[Mark.POWER_ON] is Phase.FIRMWARE
    assert Mark.RECORD_END not in PHASE_OF


def test_a_line_with_a_reader_declares_the_format_everywhere() -> None:
    line = vocabulary.Name("stopwatch", "a log of a stopwatch", reader="firmware::stopwatch::Stopwatch")
    formats = next(one for one in LISTS if one.key == "format")
    changed = [dataclasses.replace(one, names=(*one.names, line)) if one is formats else one for one in LISTS]
    before, after = vocabulary.files(LISTS), vocabulary.files(changed)
    added = {
        str(path.relative_to(ROOT)): sorted(set(text.splitlines()) - set(before[path].splitlines()))
        for path, text in after.items()
        if text != before[path]
    }
    assert added.pop("crates/formats/src/firmware/mod.rs") == [
        "    &cbmem::Cbmem, &stopwatch::Stopwatch,",
        "pub(crate) mod stopwatch;",
    ]
    assert added == {
        "crates/schema/src/vocabulary/records.rs": ['        Stopwatch = "stopwatch": "a log of a stopwatch",'],
        "docs/reference/vocabulary.md": ["| `stopwatch` | a log of a stopwatch |"],
        "src/firstlight/schema/records.py": ['    STOPWATCH = "stopwatch"'],
    }
