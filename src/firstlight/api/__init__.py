"""The public Python interface: what the command line, notebooks, scripts and studies call.

Every name is also an attribute of :mod:`firstlight`. A name is loaded when it is first used, so that importing this
package costs nothing.

>>> from firstlight import api
>>> boot = api.open(bundle)
>>> print(boot.path().goal)
ready
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstlight.analysis.function_options import Order as FunctionOrder
    from firstlight.analysis.function_options import Unit as FunctionUnit
    from firstlight.analysis.processes.packages import GroupBill, Payer
    from firstlight.analysis.processes.system_calls import GroupCalls
    from firstlight.api.automate import (
        History,
        Regressions,
        add_to_history,
        find_regressions,
        read_history,
        run_gate,
        set_baseline,
    )
    from firstlight.api.board_models import calibrate_board, calibrate_storage, predict_on_board
    from firstlight.api.boot import Boot, open
    from firstlight.api.capture_boots import Captured, capture, capture_self_test
    from firstlight.api.check_health import Health, health
    from firstlight.api.compare_boots import Comparison, Total, compare, open_arms
    from firstlight.api.experiments import (
        Forecast,
        Trial,
        plan_experiment,
        read_experiment,
        run_experiment,
        scale,
        try_,
        whatif,
    )
    from firstlight.api.farms import FarmKey, boots_by, farm_key, farm_status, tidy_farm, work, work_on_dask
    from firstlight.api.fleets import (
        add_to_fleet,
        ask_fleet,
        boot_of_fleet,
        compact_fleet,
        explain_fleet,
        export_fleet,
        fleet_page,
        forget_boots,
        init_fleet,
        query_fleet,
        reproduce_initcall,
    )
    from firstlight.api.histories import FoundVersion, anchor_history, bisect
    from firstlight.api.import_records import import_, import_all, import_batch
    from firstlight.api.record_boards import BoardRecording, record_board
    from firstlight.api.record_boots import ask, calibrate, qemu_command, record, record_with, verify
    from firstlight.api.run_studies import new_study, recheck_study, run_study, studies
    from firstlight.api.serve_folder import serve
    from firstlight.api.set_up import Doctor, audit_boot, audit_matrix, doctor, image, image_path, images
    from firstlight.api.tune_recipes import files_to_apply, read_tuning, tune, tune_board
    from firstlight.api.write import Export, export, page, report
    from firstlight.audit.matrix.cells import Extent as MatrixExtent
    from firstlight.bundle.manifest import Manifest
    from firstlight.comparison.noise_band import Band as NoiseBand
    from firstlight.errors import BundleError, FirstlightError, LabError, UnhealthyBootError, UsageError
    from firstlight.exporters.formats import To as ExportFormat
    from firstlight.farm.worker import Worked
    from firstlight.gate.baseline import baseline_path
    from firstlight.gate.verdict import GateResult
    from firstlight.ingest.importing import Imported
    from firstlight.lab.capture.self_test import StampError
    from firstlight.lab.run.ask import Answers
    from firstlight.lab.run.verify import Verification as Verification
    from firstlight.recipe.mode import RecordMode
    from firstlight.recipe.options import RecordOptions

__all__ = [
    "Answers",
    "BoardRecording",
    "Boot",
    "BundleError",
    "Captured",
    "Comparison",
    "Doctor",
    "Export",
    "ExportFormat",
    "FarmKey",
    "FirstlightError",
    "Forecast",
    "FoundVersion",
    "FunctionOrder",
    "FunctionUnit",
    "GateResult",
    "GroupBill",
    "GroupCalls",
    "Health",
    "History",
    "Imported",
    "LabError",
    "Manifest",
    "MatrixExtent",
    "NoiseBand",
    "Payer",
    "RecordMode",
    "RecordOptions",
    "Regressions",
    "StampError",
    "Total",
    "Trial",
    "UnhealthyBootError",
    "UsageError",
    "Verification",
    "Worked",
    "add_to_fleet",
    "add_to_history",
    "anchor_history",
    "ask",
    "ask_fleet",
    "audit_boot",
    "audit_matrix",
    "baseline_path",
    "bisect",
    "boot_of_fleet",
    "boots_by",
    "calibrate",
    "calibrate_board",
    "calibrate_storage",
    "capture",
    "capture_self_test",
    "compact_fleet",
    "compare",
    "doctor",
    "explain_fleet",
    "export",
    "export_fleet",
    "farm_key",
    "farm_status",
    "files_to_apply",
    "find_regressions",
    "fleet_page",
    "forget_boots",
    "health",
    "image",
    "image_path",
    "images",
    "import_",
    "import_all",
    "import_batch",
    "init_fleet",
    "new_study",
    "open",
    "open_arms",
    "page",
    "plan_experiment",
    "predict_on_board",
    "qemu_command",
    "query_fleet",
    "read_experiment",
    "read_history",
    "read_tuning",
    "recheck_study",
    "record",
    "record_board",
    "record_with",
    "report",
    "reproduce_initcall",
    "run_experiment",
    "run_gate",
    "run_study",
    "scale",
    "serve",
    "set_baseline",
    "studies",
    "tidy_farm",
    "try_",
    "tune",
    "tune_board",
    "verify",
    "whatif",
    "work",
    "work_on_dask",
]

_MODULES = {
    "firstlight.analysis.function_options": "FunctionOrder FunctionUnit",
    "firstlight.analysis.processes.packages": "GroupBill Payer",
    "firstlight.analysis.processes.system_calls": "GroupCalls",
    "firstlight.api.automate": "History Regressions add_to_history find_regressions read_history run_gate set_baseline",
    "firstlight.api.boot": "Boot open",
    "firstlight.api.compare_boots": "Comparison Total compare open_arms",
    "firstlight.api.experiments": "Forecast Trial plan_experiment read_experiment run_experiment scale try_ whatif",
    "firstlight.api.board_models": "calibrate_board calibrate_storage predict_on_board",
    "firstlight.api.capture_boots": "Captured capture capture_self_test",
    "firstlight.api.check_health": "Health health",
    "firstlight.api.farms": "FarmKey boots_by farm_key farm_status tidy_farm work work_on_dask",
    "firstlight.api.fleets": "add_to_fleet ask_fleet boot_of_fleet compact_fleet explain_fleet export_fleet fleet_page "
    "forget_boots init_fleet query_fleet reproduce_initcall",
    "firstlight.api.histories": "FoundVersion anchor_history bisect",
    "firstlight.api.import_records": "import_ import_all import_batch",
    "firstlight.api.record_boards": "BoardRecording record_board",
    "firstlight.api.record_boots": "ask calibrate qemu_command record record_with verify",
    "firstlight.api.serve_folder": "serve",
    "firstlight.api.set_up": "Doctor audit_boot audit_matrix doctor image image_path images",
    "firstlight.api.run_studies": "new_study recheck_study run_study studies",
    "firstlight.api.tune_recipes": "files_to_apply read_tuning tune tune_board",
    "firstlight.api.write": "Export export page report",
    "firstlight.audit.matrix.cells": "MatrixExtent",
    "firstlight.bundle.manifest": "Manifest",
    "firstlight.comparison.noise_band": "NoiseBand",
    "firstlight.errors": "BundleError FirstlightError LabError UnhealthyBootError UsageError",
    "firstlight.exporters.formats": "ExportFormat",
    "firstlight.lab.capture.self_test": "StampError",
    "firstlight.farm.worker": "Worked",
    "firstlight.gate.baseline": "baseline_path",
    "firstlight.gate.verdict": "GateResult",
    "firstlight.ingest.importing": "Imported",
    "firstlight.lab.run.ask": "Answers",
    "firstlight.lab.run.verify": "Verification",
    "firstlight.recipe.mode": "RecordMode",
    "firstlight.recipe.options": "RecordOptions",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
_ORIGINAL = {
    "ExportFormat": "To",
    "FunctionOrder": "Order",
    "FunctionUnit": "Unit",
    "MatrixExtent": "Extent",
    "NoiseBand": "Band",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), _ORIGINAL.get(name, name))
    return value


def __dir__() -> list[str]:
    return __all__
