"""What every command prints as `data` with `--json`, as types.

`make reference` writes a JSON schema of each to `docs/reference/schemas/`. Nothing but that and the tests loads these.
"""

from typing import Any

from firstlight.api.data import automate, compare, look, record

DATA: dict[str, Any] = {
    "audit": record.Audited | record.Matrix,
    "baseline-set": automate.BaselineSet,
    "calibrate": compare.Calibrated,
    "collector": record.Collector,
    "compare": compare.Compared,
    "devices": look.Devices,
    "doctor": record.Doctor,
    "experiment-run": compare.Experiment | compare.ExperimentPlan,
    "experiment-show": compare.Experiment,
    "export": look.Export,
    "functions": look.Functions,
    "gate": automate.Gate,
    "history-add": automate.HistoryAdded,
    "history-regressions": automate.Regressions,
    "history-show": automate.HistoryShown,
    "image-build": record.Image,
    "image-list": list[record.Image],
    "image-path": record.Image,
    "image-remove": record.Removed,
    "import": list[record.Imported] | list[record.Format],
    "initcalls": look.Initcalls,
    "log": look.Log,
    "path": look.Path,
    "record": record.Recorded | record.Planned,
    "report": look.Report,
    "scale": compare.Scale,
    "show": look.Boot,
    "study": record.Study | list[record.StudyName],
    "try": compare.Tried,
    "units": look.Units,
    "verify": record.Verified,
    "walk": record.Study,
}
"""The type of the data of every command that has `--json`."""
