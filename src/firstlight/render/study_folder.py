"""The folder that a study leaves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.render.markdown.study import outcome_markdown
from firstlight.render.page.html import filled, write_page
from firstlight.render.page.study import study_page_data
from firstlight.render.study_json import outcome_data
from firstlight.render.table_csv import table_csv
from firstlight.render.views.study import file_names
from firstlight.study.outcome import Outcome

_DATA, _TABLES, _MARKDOWN, _PAGE = "study.json", "tables", "study.md", "study.html"
_PARTS = frozenset({_DATA, _TABLES, _MARKDOWN, _PAGE, "boots", "made"})


@dataclass(frozen=True)
class StudyFolder:
    """Where a study is written: bundles below `boots/`, tables below `tables/`, and the whole as data and as pages."""

    path: Path

    def write(self, outcome: Outcome) -> None:
        """Write the tables and pages of an outcome, replacing earlier ones; the same outcome gives the same bytes.

        The data are written last: a study with data is complete.

        :raises LabError: when the page has not been built.
        :raises FirstlightError: when a file cannot be written.
        """
        try:
            (self.path / _DATA).unlink(missing_ok=True)
            tables = self.path / _TABLES
            shutil.rmtree(tables, ignore_errors=True)
            tables.mkdir()
            for name, table in file_names(outcome).items():
                (tables / f"{name}.csv").write_text(table_csv(table), encoding="utf-8")
            (self.path / _MARKDOWN).write_text(outcome_markdown(outcome), encoding="utf-8")
            write_page(filled(study_page_data(outcome)), self.path / _PAGE)
            text = json.dumps(outcome_data(outcome), indent=1, ensure_ascii=False, allow_nan=False)
            (self.path / _DATA).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise FirstlightError(f"cannot be written: {error.strerror}", where=str(self.path)) from error


@contextmanager
def study_folder(path: Path, *, force: bool) -> Iterator[StudyFolder]:
    """The folder of a study, for as long as it runs. One that was interrupted is gone on with.

    A study that is replaced stays as it is until the new one is written. A folder that was made and got no file is
    removed again.

    :param force: replace a finished study that is there.
    :raises FirstlightError: when something else is there, or it cannot be made.
    """
    if (path / _DATA).is_file():
        if not force:
            raise FirstlightError("a study is already there", where=str(path), hint="give `--force` to replace it")
    elif path.exists() and (not path.is_dir() or any(each.name not in _PARTS for each in path.iterdir())):
        raise FirstlightError(
            "this is not a study, so it is not replaced", where=str(path), hint="choose another directory with `-o`"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FirstlightError(f"cannot be made: {error.strerror}", where=str(path)) from error
    try:
        yield StudyFolder(path)
    finally:
        with suppress(OSError):
            # Fails if there is something in it.
            path.rmdir()
