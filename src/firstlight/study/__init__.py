"""The kit for studies: questions about start-up time that come with their boots, tables and conclusions.

A study imports this package and :mod:`firstlight`, and nothing else. A name is loaded when it is first used.

>>> from firstlight.study import Study
>>> Study("mine", "What quiet saves", "Does the console cost time?", ("kernel",), "my_package.mine").name
'mine'
"""

from importlib import import_module
from typing import Any

# By module; `a=b` offers its `b` as `a`. `__init__.pyi` has the types.
_OFFERED = {
    "firstlight.analysis.functions": "NO_FUNCTION",
    "firstlight.analysis.interval_union": "most_at_once union_ns",
    "firstlight.analysis.udev_queue": "histogram",
    "firstlight.analysis.uevents": "uevents",
    "firstlight.assets": "asset_path",
    "firstlight.bundle.boot": "Boot",
    "firstlight.bundle.folding": "SHARED_NAME",
    "firstlight.bundle.open": "open_boot=open",
    "firstlight.experiment.runner": "memory_available",
    "firstlight.experiment.scaling.costs": "CostSeries",
    "firstlight.experiment.stage_table": "percent_of",
    "firstlight.ingest.importing": "ImportOptions import_records",
    "firstlight.lab.guest.report": "read_report",
    "firstlight.lab.host.made_here": "made_here",
    "firstlight.lab.host.progress": "Progress",
    "firstlight.lab.kernel.kernel": "open_kernel",
    "firstlight.lab.qemu.emulator": "find_qemu",
    "firstlight.lab.rootfs.libraries": "needed_libraries",
    "firstlight.lab.rootfs.filesystems": "FORMATS find_format",
    "firstlight.lab.rootfs.initramfs": "BEFORE_ROOT",
    "firstlight.lab.rootfs.kernel_mounted": "KernelRoot",
    "firstlight.lab.rootfs.overlay": "settle",
    "firstlight.lab.rootfs.programs": "Programs programs_of",
    "firstlight.lab.rootfs.tar": "UserspaceTar",
    "firstlight.lab.run.resolve": "kernel_root",
    "firstlight.lab.run.symbols": "kernel_symbols",
    "firstlight.quantities": "parse_size size_text time_text",
    "firstlight.recipe.isa": "DEFAULT Architecture architecture_of",
    "firstlight.recipe.machine_feature": "MachineFeature",
    "firstlight.recipe.recipe": "Recipe",
    "firstlight.schema.marks": "Mark Phase",
    "firstlight.schema.spans": "SpanKind",
    "firstlight.stats.scaling.analysis": "LEAST_SIZES LeftOut ScalingAnalysis fit_scaling=study",
    "firstlight.stats.scaling.exponent": "Exponent",
    "firstlight.stats.scaling.models": "LAWS",
    "firstlight.stats.scaling.prediction": "BAND Prediction predict",
    "firstlight.study.band": "NoiseBand noise_band",
    "firstlight.study.catalogue": "Study",
    "firstlight.study.disks": "Disk attach prepare",
    "firstlight.study.driver_modules": "LOAD_MODULES lacks_driver write_modules",
    "firstlight.study.guest_files": "kept_number kept_text stamps_of",
    "firstlight.study.historical": "historical_tables",
    "firstlight.study.outcome": "Finding MissingArm Outcome Verdict",
    "firstlight.study.planned": "planned_study",
    "firstlight.study.extent": "Extent",
    "firstlight.study.runner": "Lab StudyArm make_images",
    "firstlight.study.serial_line": "BAUD SLOW_BAUD on_the_line_ns",
    "firstlight.study.verdicts": "Figure Figures derived evaluate lacking relative",
    "firstlight.study.table": "Chart Field Kind MissingValue Series Table Value first_missing missing_in missing_row "
    "value_text",
}
_PLACE = {
    word.partition("=")[0]: (module, word.rpartition("=")[2])
    for module, words in _OFFERED.items()
    for word in words.split()
}

__all__ = sorted(_PLACE)


def __getattr__(name: str) -> Any:
    if name not in _PLACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, original = _PLACE[name]
    value = globals()[name] = getattr(import_module(module), original)
    return value


def __dir__() -> list[str]:
    return __all__
