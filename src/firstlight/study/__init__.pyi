"""The types of the names that `__init__.py` loads when they are first used."""

import firstlight.bundle.open
import firstlight.stats.scaling.analysis
from firstlight.analysis.functions import NO_FUNCTION as NO_FUNCTION
from firstlight.analysis.interval_union import most_at_once as most_at_once
from firstlight.analysis.interval_union import union_ns as union_ns
from firstlight.analysis.udev_queue import histogram as histogram
from firstlight.analysis.uevents import uevents as uevents
from firstlight.assets import asset_path as asset_path
from firstlight.bundle.boot import Boot as Boot
from firstlight.bundle.folding import SHARED_NAME as SHARED_NAME
from firstlight.experiment.runner import memory_available as memory_available
from firstlight.experiment.scaling.costs import CostSeries as CostSeries
from firstlight.experiment.stage_table import percent_of as percent_of
from firstlight.ingest.importing import ImportOptions as ImportOptions
from firstlight.ingest.importing import import_records as import_records
from firstlight.lab.guest.report import read_report as read_report
from firstlight.lab.host.made_here import made_here as made_here
from firstlight.lab.host.progress import Progress as Progress
from firstlight.lab.kernel.kernel import open_kernel as open_kernel
from firstlight.lab.qemu.emulator import find_qemu as find_qemu
from firstlight.lab.rootfs.filesystems import FORMATS as FORMATS
from firstlight.lab.rootfs.filesystems import find_format as find_format
from firstlight.lab.rootfs.initramfs import BEFORE_ROOT as BEFORE_ROOT
from firstlight.lab.rootfs.kernel_mounted import KernelRoot as KernelRoot
from firstlight.lab.rootfs.libraries import needed_libraries as needed_libraries
from firstlight.lab.rootfs.overlay import settle as settle
from firstlight.lab.rootfs.programs import Programs as Programs
from firstlight.lab.rootfs.programs import programs_of as programs_of
from firstlight.lab.rootfs.tar import UserspaceTar as UserspaceTar
from firstlight.lab.run.resolve import kernel_root as kernel_root
from firstlight.lab.run.symbols import kernel_symbols as kernel_symbols
from firstlight.quantities import parse_size as parse_size
from firstlight.quantities import size_text as size_text
from firstlight.quantities import time_text as time_text
from firstlight.recipe.isa import DEFAULT as DEFAULT
from firstlight.recipe.isa import Architecture as Architecture
from firstlight.recipe.isa import architecture_of as architecture_of
from firstlight.recipe.machine_feature import MachineFeature as MachineFeature
from firstlight.recipe.recipe import Recipe as Recipe
from firstlight.schema.marks import Mark as Mark
from firstlight.schema.marks import Phase as Phase
from firstlight.schema.spans import SpanKind as SpanKind
from firstlight.stats.scaling.analysis import LEAST_SIZES as LEAST_SIZES
from firstlight.stats.scaling.analysis import LeftOut as LeftOut
from firstlight.stats.scaling.analysis import ScalingAnalysis as ScalingAnalysis
from firstlight.stats.scaling.exponent import Exponent as Exponent
from firstlight.stats.scaling.models import LAWS as LAWS
from firstlight.stats.scaling.prediction import BAND as BAND
from firstlight.stats.scaling.prediction import Prediction as Prediction
from firstlight.stats.scaling.prediction import predict as predict
from firstlight.study.band import NoiseBand as NoiseBand
from firstlight.study.band import noise_band as noise_band
from firstlight.study.catalogue import Study as Study
from firstlight.study.disks import Disk as Disk
from firstlight.study.disks import attach as attach
from firstlight.study.disks import prepare as prepare
from firstlight.study.driver_modules import LOAD_MODULES as LOAD_MODULES
from firstlight.study.driver_modules import write_modules as write_modules
from firstlight.study.extent import Extent as Extent
from firstlight.study.guest_files import kept_number as kept_number
from firstlight.study.guest_files import kept_text as kept_text
from firstlight.study.guest_files import stamps_of as stamps_of
from firstlight.study.historical import historical_tables as historical_tables
from firstlight.study.outcome import Finding as Finding
from firstlight.study.outcome import MissingArm as MissingArm
from firstlight.study.outcome import Outcome as Outcome
from firstlight.study.outcome import Verdict as Verdict
from firstlight.study.planned import planned_study as planned_study
from firstlight.study.runner import Lab as Lab
from firstlight.study.runner import StudyArm as StudyArm
from firstlight.study.runner import make_images as make_images
from firstlight.study.serial_line import BAUD as BAUD
from firstlight.study.serial_line import SLOW_BAUD as SLOW_BAUD
from firstlight.study.serial_line import on_the_line_ns as on_the_line_ns
from firstlight.study.table import Chart as Chart
from firstlight.study.table import Field as Field
from firstlight.study.table import Kind as Kind
from firstlight.study.table import MissingValue as MissingValue
from firstlight.study.table import Series as Series
from firstlight.study.table import Table as Table
from firstlight.study.table import Value as Value
from firstlight.study.table import first_missing as first_missing
from firstlight.study.table import missing_in as missing_in
from firstlight.study.table import missing_row as missing_row
from firstlight.study.table import value_text as value_text
from firstlight.study.verdicts import Figure as Figure
from firstlight.study.verdicts import Figures as Figures
from firstlight.study.verdicts import derived as derived
from firstlight.study.verdicts import evaluate as evaluate
from firstlight.study.verdicts import lacking as lacking
from firstlight.study.verdicts import relative as relative

open_boot = firstlight.bundle.open.open
fit_scaling = firstlight.stats.scaling.analysis.study

__all__: list[str]
