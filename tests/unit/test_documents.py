"""What the documents promise is there."""

from __future__ import annotations

import ast
import builtins
import re
import shutil
import subprocess
from doctest import DocTestParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import firstlight
from bundles import make_bundle
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.tables import SCHEMAS
from firstlight.cli.app import app
from firstlight.cli.main import run
from picture import picture
from reference.__main__ import expected
from reference.commands import read_commands
from reference.man import man_pages
from reference.pages import block

ROOT = Path(__file__).parents[2]
VERBS = [command.name for command in app.registered_commands if command.name and not command.hidden]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


PROGRAM = read_commands()
EXPECTED = expected()


@pytest.mark.parametrize("path", sorted(EXPECTED), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_reference_is_what_the_command_line_says(path: Path) -> None:
    assert path.read_text() == EXPECTED[path], "run `make reference`"


def test_every_command_has_its_usage_and_options_on_its_page() -> None:
    for command in PROGRAM.walk():
        if command.path and not command.commands:
            page = ROOT / f"docs/reference/commands/{command.path[0]}.md"
            assert block(command) in page.read_text(), command.name


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
@pytest.mark.parametrize("name", sorted(man_pages(PROGRAM)))
def test_manual_pages_are_sound(name: str) -> None:
    text = man_pages(PROGRAM)[name].encode()
    said = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=text, capture_output=True, check=True)
    assert said.stderr == b""
    for section in (b"NAME", b"SYNOPSIS", b"EXIT STATUS", b"ENVIRONMENT", b"SEE ALSO"):
        assert b".SH " + section in text


def prose(text: str) -> str:
    """A document without its code."""
    return re.sub(r"(`+).+?\1", "", re.sub(r"^(```+).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(document: Path) -> set[str]:
    """What a link into a document may name, as the site and the hosts of repositories write headings."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def undefined(source: str) -> set[str]:
    """Names that a piece of Python uses and neither imports nor sets."""
    names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    used = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    defined = {name.id for name in names if not isinstance(name.ctx, ast.Load)} | set(dir(builtins))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
    return used - defined


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_in_python_import_what_they_use(document: Path) -> None:
    """A reader can paste each of them; `bundle` is the path of a boot, as the page of the interface says."""
    for kind, example in re.findall(r"^```(python|pycon)\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL):
        if kind == "pycon":
            example = "".join(each.source for each in DocTestParser().get_examples(example))
        elif document.name == "python.md":
            continue  # signatures
        assert undefined(example) <= {"bundle"}, example


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", document.read_text()):
        goal = document.parent / target if target else document
        assert goal.is_file(), target
        assert not anchor or anchor in anchors(goal), (target, anchor)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_of_the_source_exist(document: Path) -> None:
    """Except those of a file that the text tells the reader to write, `NAME` and the format of the example, and what a
    build makes, which a tree need not have.
    """
    named = re.findall(r"`((?:crates|src|tests|web|benches|make|collector|scenarios)/[\w./*-]+)`", document.read_text())
    written = re.compile(r"NAME|/stopwatch\.rs|^web/dist/")
    assert [path for path in named if not any(ROOT.glob(path)) and not written.search(path)] == []


RETIRED = re.findall(
    r"^\| ([a-z ]+) \|$", (ROOT / "docs/STYLE.md").read_text().partition("## Retired words")[2], re.MULTILINE
)[1:]
ENGLISH = [path for path in DOCUMENTS if path.name != "STYLE.md" and "studies" not in path.parts]


@pytest.mark.parametrize("document", ENGLISH, ids=lambda path: str(path.relative_to(ROOT)))
def test_retired_words_stay_away_from_documents(document: Path) -> None:
    text = " ".join(prose(document.read_text()).split())
    assert not re.findall(rf"\b(?:{'|'.join(RETIRED)})\b", text, re.IGNORECASE)


def test_retired_words_stay_away_from_help() -> None:
    for command in PROGRAM.walk():
        rows = [text for _, text in (*command.arguments, *command.options)]
        text = " ".join([command.summary, *command.text, *rows])
        assert not re.findall(rf"\b(?:{'|'.join(RETIRED)})\b", text, re.IGNORECASE), command.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_documents_use_options_that_exist(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in re.findall(r"^firstlight ([a-z]+ .*)$", document.read_text(), re.MULTILINE):
        words = re.split(r"\s+[#|>]", line)[0].split()
        if words[0] not in VERBS or "[OPTIONS]" in words:
            continue
        run([words[0], "--help"])
        offered = capsys.readouterr().out
        for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(words[1:])):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", offered) or option == "quiet", (line, option)


@pytest.mark.parametrize("document", ["README.md", "docs/guides/investigate.md"])
def test_python_in_documents_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "mine"):
        make_bundle(tmp_path, name=f"{name}.boot")
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for code in blocks:
        exec(compile(code, document, "exec"), {})


def test_the_picture_of_a_boot_shows_every_phase(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    drawing = ElementTree.fromstring(picture(boot))
    titles = [title.text or "" for title in drawing.iter("{http://www.w3.org/2000/svg}title")]
    assert [
        phase for phase in boot.phases()["phase"] if not any(title.startswith(f"{phase}: ") for title in titles)
    ] == []


def test_the_format_names_every_table_column_and_field_of_the_manifest() -> None:
    text = (ROOT / "docs/reference/formats/boot-bundle.md").read_text()
    for table, columns in SCHEMAS.items():
        assert f"`{table}`" in text
        assert not [column for column in columns if not re.search(rf"\b{column}\b", text)], table
    assert not [field for field in Manifest.model_fields if f"`{field}`" not in text]
