"""What every command prints as `data` with `--json`, as types.

`make reference` writes a JSON schema of each to `docs/reference/schemas/`. Nothing but that and the tests loads these.
"""

from typing import Any

from firstlight.api.data import ci_commands, compare, inspect_boot, record

DATA: dict[str, Any] = {
    "audit": record.Audited | record.Matrix,
    "baseline-set": ci_commands.BaselineSet,
    "calibrate": compare.Calibrated,
    "collector": record.Collector,
    "compare": compare.Compared,
    "devices": inspect_boot.Devices,
    "doctor": record.Doctor,
    "experiment-run": compare.Experiment | compare.ExperimentPlan,
    "experiment-show": compare.Experiment,
    "export": inspect_boot.Export,
    "functions": inspect_boot.Functions,
    "gate": ci_commands.Gate,
    "history-add": ci_commands.HistoryAdded,
    "history-regressions": ci_commands.Regressions,
    "history-show": ci_commands.HistoryShown,
    "image-build": record.Image,
    "image-list": list[record.Image],
    "image-path": record.Image,
    "image-remove": record.Removed,
    "import": list[record.Imported] | list[record.Format],
    "initcalls": inspect_boot.Initcalls,
    "log": inspect_boot.Log,
    "path": inspect_boot.Path,
    "record": record.Recorded | record.Planned,
    "report": inspect_boot.Report,
    "scale": compare.Scale,
    "show": inspect_boot.ShowData,
    "study": record.Study | list[record.StudyName],
    "try": compare.Tried,
    "units": inspect_boot.Units,
    "verify": record.Verified,
    "walk": record.Study,
}
"""The type of the data of every command that has `--json`."""
