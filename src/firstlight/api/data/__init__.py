"""What every command prints as `data` with `--json`, as types.

`make reference` writes a JSON schema of each to `docs/reference/schemas/`. Nothing but that and the tests loads these.
"""

from typing import Any

from firstlight.advise.tuning.on_board import BoardTuning
from firstlight.api.data import ci_commands, compare, farm, fleet, inspect_boot, record
from firstlight.api.farms import FarmKey
from firstlight.farm.worker import Worked
from firstlight.lab.capture.self_test import StampError

DATA: dict[str, Any] = {
    "apply": compare.Applied,
    "ask": record.Asked,
    "audit": record.Audited | record.Matrix,
    "baseline-set": ci_commands.BaselineSet,
    "calibrate": compare.Calibrated,
    "collector": record.Collector,
    "compare": compare.Compared,
    "devices": inspect_boot.Devices | inspect_boot.DeviceCosts,
    "doctor": record.Doctor,
    "experiment-run": compare.Experiment | compare.ExperimentPlan,
    "experiment-show": compare.Experiment,
    "explain": inspect_boot.Explained | inspect_boot.ExplainedEntry,
    "export": inspect_boot.Export,
    "files": inspect_boot.Files,
    "farm-key": FarmKey,
    "farm-status": farm.Status,
    "farm-tidy": farm.Tidied,
    "fleet-add": fleet.Added,
    "fleet-compact": fleet.Compacted,
    "fleet-explain": fleet.Explained,
    "fleet-forget": fleet.Forgotten,
    "fleet-init": fleet.Made,
    "fleet-export": fleet.FleetExport,
    "fleet-page": fleet.Page,
    "fleet-reproduce": fleet.Reproduced,
    "fleet-show": fleet.Shown,
    "fleet-boot": fleet.OneBoot,
    "fleet-sql": fleet.Queried,
    "functions": inspect_boot.Functions,
    "gate": ci_commands.Gate,
    "health": ci_commands.Health,
    "history-add": ci_commands.HistoryAdded,
    "history-anchor": ci_commands.HistoryAdded,
    "history-bisect": ci_commands.Bisected,
    "history-regressions": ci_commands.Regressions,
    "history-show": ci_commands.HistoryShown,
    "image-build": record.Image,
    "image-list": list[record.Image],
    "image-path": record.Image,
    "image-remove": record.Removed,
    "capture": record.Captured | StampError,
    "import": list[record.Imported] | list[record.Format] | record.Batch,
    "initcalls": inspect_boot.Initcalls,
    "log": inspect_boot.Log,
    "packages": inspect_boot.Packages,
    "path": inspect_boot.Path,
    "processes": inspect_boot.Processes,
    "predict": compare.PredictedOnBoard,
    "record": record.Recorded | record.Planned | record.BoardRecorded,
    "report": inspect_boot.Report,
    "scale": compare.Scale,
    "show": inspect_boot.ShowData,
    "study-list": list[record.StudyName],
    "study-new": record.StudySkeleton,
    "study-recheck": record.StudyRecheck,
    "study-run": record.Study,
    "syscalls": inspect_boot.SystemCalls,
    "try": compare.Tried,
    "tune-run": compare.Tuned | BoardTuning,
    "tune-show": compare.Tuned,
    "units": inspect_boot.Units | inspect_boot.Manager,
    "verify": record.Verified,
    "walk": record.Study,
    "whatif": compare.Predicted,
    "work": Worked | farm.DaskWorkers,
}
"""The type of the data of every command that has `--json`."""
