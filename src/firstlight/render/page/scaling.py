"""What the page of a scaling carries: its data, what they come to in words, and the laws as curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from firstlight.experiment.scaling.result import Answer, Configuration
from firstlight.render.page.text import sound
from firstlight.render.table_json import table_json
from firstlight.render.views.scaling import (
    law_lines,
    law_text,
    meeting_line,
    meeting_text,
    parts_table,
    points_table,
    predictions_table,
    subtitle,
)
from firstlight.stats.scaling.prediction import predict

#: The version of the data; the page refuses any other.
SCALING_VERSION = 1

#: So many points has a curve, and it goes so far beyond the largest size, or to the largest one that is predicted.
_POINTS = 121
_BEYOND = 1.25

Json = dict[str, Any]


def scaling_page_data(answer: Answer) -> Json:
    """A scaling as the page carries it; `docs/design/report-page.md` is the specification."""
    data: Json = sound(
        {
            "format": "firstlight-scale-page",
            "version": SCALING_VERSION,
            "subtitle": subtitle(answer),
            "scale": answer.data(),
            "points": table_json(points_table(answer)),
            "configurations": [_configuration(answer, each) for each in answer.configurations],
            "crossovers": [
                {"size": each.crossing.size, "text": meeting_text(answer, each), "line": meeting_line(answer, each)}
                for each in answer.meetings
            ],
        }
    )
    return data


def _configuration(answer: Answer, configuration: Configuration) -> Json:
    law, certainty = law_text(answer, configuration)
    tables = {"parts": parts_table(answer, configuration), "predictions": predictions_table(answer, configuration)}
    return {
        "law": law,
        "certainty": certainty,
        "lines": law_lines(answer, configuration),
        "curve": curve(configuration),
        "tables": {name: table_json(table) for name, table in tables.items() if table is not None},
    }


def curve(configuration: Configuration) -> Json:
    """The law, its runner-up and the band over sizes; the law is not known far beyond what was measured.

    There are none where the cost falls.

    >>> from firstlight.stats.scaling.analysis import study
    >>> found = study([1, 2, 4, 8, 16], [110, 120, 140, 180, 260], exact=True)
    >>> drawn = curve(Configuration("", found, ()))
    >>> drawn["size"][0], round(drawn["law"][0]), round(drawn["law"][-1]), drawn["size"][-1]
    (1.0, 110, 300, 20.0)
    """
    study = configuration.study
    if study.falls:
        return {"size": list(study.sizes), "law": [], "low": [], "high": [], "runner_up": None}
    last = max([_BEYOND * study.sizes[-1], *(each.size for each in configuration.predictions)])
    # Sizes grow by factors; the one is added so that zero can be among them.
    sizes = np.geomspace(study.sizes[0] + 1, last + 1, _POINTS) - 1
    sizes[[0, -1]] = study.sizes[0], last
    said = [predict(study, float(size)) for size in sizes]
    runner = study.runner_up
    return {
        "size": sizes.tolist(),
        "law": [each.value for each in said],
        "low": [each.low for each in said],
        "high": [each.high for each in said],
        "runner_up": None if runner is None else runner.at(sizes).tolist(),
    }
