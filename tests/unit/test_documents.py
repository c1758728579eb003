"""What the documents promise is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firstlight.bundle.manifest import Manifest
from firstlight.bundle.tables import SCHEMAS
from firstlight.cli.app import app
from firstlight.cli.main import run

ROOT = Path(__file__).parents[2]
VERBS = [command.name for command in app.registered_commands if command.name and not command.hidden]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


@pytest.mark.parametrize("verb", [*VERBS, "baseline set"])
def test_a_page_names_exactly_the_options_of_its_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    run([*verb.split(), "--help"])
    _, _, options = capsys.readouterr().out.partition("\nOptions:\n")
    offered = set(re.findall(r"(?<![\w-])--[a-z-]+", "".join(re.findall(r"^  -.*?(?:  |$)", options, re.MULTILINE))))
    page = (ROOT / f"docs/reference/commands/{verb.split()[0]}.md").read_text()
    table = "".join(line.split(" | ")[0] for line in page.splitlines(True)
                    if line.startswith("| `-"))  # fmt: skip
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", table)) == offered - {"--help"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


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


def test_the_format_names_every_table_column_and_field_of_the_manifest() -> None:
    text = (ROOT / "docs/reference/formats/boot-bundle.md").read_text()
    for table, columns in SCHEMAS.items():
        assert f"`{table}`" in text
        assert not [column for column in columns if not re.search(rf"\b{column}\b", text)], table
    assert not [field for field in Manifest.model_fields if f"`{field}`" not in text]
