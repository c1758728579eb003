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
    from firstlight.api.automate import (
        History,
        Regressions,
        add_to_history,
        find_regressions,
        read_history,
        run_gate,
        set_baseline,
    )
    from firstlight.api.boot import Boot, open
    from firstlight.api.compare_boots import Comparison, Total, compare, open_arms
    from firstlight.api.experiments import Trial, plan_experiment, read_experiment, run_experiment, scale, try_
    from firstlight.api.import_records import import_, import_all
    from firstlight.api.record_boots import calibrate, qemu_command, record, record_with, verify
    from firstlight.api.run_studies import run_study, studies
    from firstlight.api.set_up import Doctor, audit_boot, audit_matrix, doctor, image, image_path, images
    from firstlight.api.write import Export, export, page, report
    from firstlight.audit.matrix.cells import Extent as MatrixExtent
    from firstlight.bundle.manifest import Manifest
    from firstlight.comparison.noise_band import Band as NoiseBand
    from firstlight.errors import BundleError, FirstlightError, LabError, UnhealthyBootError, UsageError
    from firstlight.exporters.formats import To as ExportFormat
    from firstlight.gate.baseline import baseline_path
    from firstlight.gate.verdict import GateResult
    from firstlight.ingest.importing import Imported
    from firstlight.lab.run.verify import Verdict as Verification
    from firstlight.recipe.options import RecordOptions

__all__ = [
    "Boot",
    "BundleError",
    "Comparison",
    "Doctor",
    "Export",
    "ExportFormat",
    "FirstlightError",
    "FunctionOrder",
    "FunctionUnit",
    "GateResult",
    "History",
    "Imported",
    "LabError",
    "Manifest",
    "MatrixExtent",
    "NoiseBand",
    "RecordOptions",
    "Regressions",
    "Total",
    "Trial",
    "UnhealthyBootError",
    "UsageError",
    "Verification",
    "add_to_history",
    "audit_boot",
    "audit_matrix",
    "baseline_path",
    "calibrate",
    "compare",
    "doctor",
    "export",
    "find_regressions",
    "image",
    "image_path",
    "images",
    "import_",
    "import_all",
    "open",
    "open_arms",
    "page",
    "plan_experiment",
    "qemu_command",
    "read_experiment",
    "read_history",
    "record",
    "record_with",
    "report",
    "run_experiment",
    "run_gate",
    "run_study",
    "scale",
    "set_baseline",
    "studies",
    "try_",
    "verify",
]

_MODULES = {
    "firstlight.analysis.function_options": "FunctionOrder FunctionUnit",
    "firstlight.api.automate": "History Regressions add_to_history find_regressions read_history run_gate set_baseline",
    "firstlight.api.boot": "Boot open",
    "firstlight.api.compare_boots": "Comparison Total compare open_arms",
    "firstlight.api.experiments": "Trial plan_experiment read_experiment run_experiment scale try_",
    "firstlight.api.import_records": "import_ import_all",
    "firstlight.api.record_boots": "calibrate qemu_command record record_with verify",
    "firstlight.api.set_up": "Doctor audit_boot audit_matrix doctor image image_path images",
    "firstlight.api.run_studies": "run_study studies",
    "firstlight.api.write": "Export export page report",
    "firstlight.audit.matrix.cells": "MatrixExtent",
    "firstlight.bundle.manifest": "Manifest",
    "firstlight.comparison.noise_band": "NoiseBand",
    "firstlight.errors": "BundleError FirstlightError LabError UnhealthyBootError UsageError",
    "firstlight.exporters.formats": "ExportFormat",
    "firstlight.gate.baseline": "baseline_path",
    "firstlight.gate.verdict": "GateResult",
    "firstlight.ingest.importing": "Imported",
    "firstlight.lab.run.verify": "Verification",
    "firstlight.recipe.options": "RecordOptions",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
_ORIGINAL = {
    "ExportFormat": "To",
    "FunctionOrder": "Order",
    "FunctionUnit": "Unit",
    "MatrixExtent": "Extent",
    "NoiseBand": "Band",
    "Verification": "Verdict",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), _ORIGINAL.get(name, name))
    return value


def __dir__() -> list[str]:
    return __all__
