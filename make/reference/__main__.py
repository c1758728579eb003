"""`make reference`: writes the generated parts of the reference pages, the manual pages and the JSON schemas."""

from __future__ import annotations

from pathlib import Path

from reference.catalogue import catalogue_page
from reference.commands import read_commands
from reference.man import man_pages
from reference.pages import pages
from reference.python import python_page
from reference.schemas import schemas

ROOT = Path(__file__).parents[2]
MAN = ROOT / "man/data/share/man/man1"


def expected() -> dict[Path, str]:
    """Every generated file, with what belongs into it."""
    program = read_commands()
    manual = {MAN / name: text for name, text in man_pages(program).items()}
    python = {ROOT / "docs/reference/python.md": python_page()}
    return {
        **pages(ROOT / "docs/reference/commands", program),
        **manual,
        **schemas(ROOT / "docs/reference/schemas"),
        **python,
        ROOT / "docs/reference/catalogue.md": catalogue_page(),
    }


if __name__ == "__main__":
    MAN.mkdir(parents=True, exist_ok=True)
    texts = expected()
    for path, text in texts.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(path.relative_to(ROOT))
    for path in set(MAN.glob("*")) - set(texts):
        path.unlink()
