"""The folder that a study leaves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
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

_DATA = "study.json"


@dataclass(frozen=True)
class StudyFolder:
    """Where a study is written: bundles below `boots/`, tables below `tables/`, and the whole as data and as pages."""

    path: Path

    def write(self, outcome: Outcome) -> None:
        """Write the tables and pages of an outcome; the same outcome gives the same bytes.

        :raises LabError: when the page has not been built.
        :raises FirstlightError: when a file cannot be written.
        """
        try:
            tables = self.path / "tables"
            tables.mkdir(exist_ok=True)
            for name, table in file_names(outcome).items():
                (tables / f"{name}.csv").write_text(table_csv(table), encoding="utf-8")
            (self.path / "study.md").write_text(outcome_markdown(outcome), encoding="utf-8")
            text = json.dumps(outcome_data(outcome), indent=1, ensure_ascii=False, allow_nan=False)
            (self.path / _DATA).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise FirstlightError(f"cannot be written: {error.strerror}", where=str(self.path)) from error
        write_page(filled(study_page_data(outcome)), self.path / "study.html")


@contextmanager
def study_folder(path: Path, *, force: bool) -> Iterator[StudyFolder]:
    """The folder of a study. One that was interrupted is gone on with: its boots are taken as they are.

    :param force: replace a finished study that is there.
    :raises FirstlightError: when something else is there, or it cannot be made.
    """
    if (path / _DATA).is_file():
        if not force:
            raise FirstlightError("a study is already there", where=str(path), hint="give `--force` to replace it")
    elif path.exists() and (not path.is_dir() or any(each.name not in ("boots", "made") for each in path.iterdir())):
        raise FirstlightError(
            "this is not a study, so it is not replaced", where=str(path), hint="choose another directory with `-o`"
        )
    try:
        (path / _DATA).unlink(missing_ok=True)
        shutil.rmtree(path / "tables", ignore_errors=True)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FirstlightError(f"cannot be made: {error.strerror}", where=str(path)) from error
    yield StudyFolder(path)
