"""The public Python interface: what the command line, notebooks, scripts and studies call.

Every name is also an attribute of :mod:`firstlight`. A name is loaded when it is first used, so that importing this
package costs nothing.

>>> from firstlight import api
>>> boot = api.open(bundle)
>>> boot.path().goal
'ready'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstlight.api.boot import Boot, open
    from firstlight.api.compare_boots import Comparison, Total, compare, open_arms
    from firstlight.api.import_records import import_, import_all
    from firstlight.api.record_boots import calibrate, qemu_command, record, record_with, verify
    from firstlight.api.write import Export, export, page, report
    from firstlight.bundle.manifest import Manifest
    from firstlight.errors import BundleError, FirstlightError, LabError, UnhealthyBootError, UsageError
    from firstlight.exporters.formats import To as ExportFormat
    from firstlight.ingest.importing import Imported
    from firstlight.recipe.options import RecordOptions

__all__ = [
    "Boot",
    "BundleError",
    "Comparison",
    "Export",
    "ExportFormat",
    "FirstlightError",
    "Imported",
    "LabError",
    "Manifest",
    "RecordOptions",
    "Total",
    "UnhealthyBootError",
    "UsageError",
    "calibrate",
    "compare",
    "export",
    "import_",
    "import_all",
    "open",
    "open_arms",
    "page",
    "qemu_command",
    "record",
    "record_with",
    "report",
    "verify",
]

_MODULES = {
    "firstlight.api.boot": ("Boot", "open"),
    "firstlight.api.compare_boots": ("Comparison", "Total", "compare", "open_arms"),
    "firstlight.api.import_records": ("import_", "import_all"),
    "firstlight.api.record_boots": ("calibrate", "qemu_command", "record", "record_with", "verify"),
    "firstlight.api.write": ("Export", "export", "page", "report"),
    "firstlight.bundle.manifest": ("Manifest",),
    "firstlight.errors": ("BundleError", "FirstlightError", "LabError", "UnhealthyBootError", "UsageError"),
    "firstlight.exporters.formats": ("ExportFormat",),
    "firstlight.ingest.importing": ("Imported",),
    "firstlight.recipe.options": ("RecordOptions",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
_ORIGINAL = {"ExportFormat": "To"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), _ORIGINAL.get(name, name))
    return value


def __dir__() -> list[str]:
    return __all__
