"""Data of the commands that compare boots and experiment."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from firstlight.advise.tuning.kconfig.result import KernelSearch
from firstlight.advise.tuning.tuning import CheckResult, PhaseChange
from firstlight.api.data.inspect_boot import Heading
from firstlight.comparison.exact.causes import Cause
from firstlight.comparison.exact.facts import FactChange
from firstlight.comparison.exact.moved import Moved, Renamed
from firstlight.comparison.exact.parts import Parts
from firstlight.comparison.exact.rows import RowDelta, Split
from firstlight.comparison.noise_band import Band
from firstlight.comparison.sides.input_changes import InputChange
from firstlight.comparison.sides.preconditions import Flag
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.experiment.calibrate.board import BoardModel
from firstlight.lab.storage.fit import StorageFit


class Change(TypedDict):
    """B less A."""

    ns: int
    instructions: int | None
    idle_ns: int | None
    calls: int | None


class Row(TypedDict):
    """One thing in both boots; `a` or `b` is null where it is not there."""

    name: str
    module: str | None
    kind: str
    presence: str
    doubtful: float | None
    a: RowDelta | None
    b: RowDelta | None
    change: Change
    split: Split | None
    unsure: NotRequired[bool]
    parts: NotRequired[Parts | None]


class Sum(Row):
    """Several rows added up."""

    count: int


class HiddenRow(Row):
    """Work off the critical path, which contributes nothing."""

    slack_a_ns: int | None
    slack_b_ns: int | None
    contributes_ns: int


class TreeRow(Row):
    """A call path of the merged tree."""

    depth: int
    total_a_ns: int
    total_b_ns: int
    total_change_ns: int
    width_ns: int
    pruned: bool
    node: int | None


class OneSided(TreeRow):
    """A call path in one boot only; `elsewhere`: its function is in the other boot, too."""

    path: list[str]
    elsewhere: bool


class OneSidedSum(TypedDict):
    """What is in one boot only, added up."""

    count: int
    total_ns: int


class Tree(TypedDict):
    """Both calling-context trees as one."""

    rows: list[TreeRow]
    vanished: list[OneSided]
    vanished_sum: OneSidedSum
    new: list[OneSided]
    new_sum: OneSidedSum
    rest: Row
    nodes: int
    changed_nodes: int


class Level(TypedDict):
    """One partition of the total change; `sum_less_whole_ns` is 0."""

    rows: list[Row]
    left_out: Sum
    unchanged: Sum
    whole: Row
    sum_less_whole_ns: int


class LedgerRow(TypedDict):
    """The parts of the change of one row."""

    name: str
    module: str
    kind: str
    caused_ns: int
    moved_ns: int
    accident_ns: int


class LedgerData(TypedDict):
    """What of the change is caused, what moved, and what is an accident; each level adds up to `total`."""

    total: Parts
    instructions: dict[str, int]
    band: str | None
    levels: dict[str, list[LedgerRow]]


class Side(Heading):
    """One boot of a comparison."""

    mode: str


class Exact(TypedDict):
    """The exact difference of two boots; `docs/reference/formats/comparison.md` is the specification."""

    regime: str
    a: Side
    b: Side
    equal: bool
    flags: list[Flag]
    inputs: list[InputChange]
    headline: str
    causes: list[Cause]
    ledger: LedgerData | None
    totals: Row
    levels: dict[str, Level]
    hidden: list[HiddenRow]
    moved: list[Moved]
    renamed: list[Renamed]
    facts: list[FactChange]
    tree: Tree | None
    band: NotRequired[dict[str, Any]]


class Compared(TypedDict):
    """`firstlight compare`; a comparison by statistics also has `regime`: `noisy`."""

    schema: int
    baseline: str
    comparisons: list[Exact | dict[str, Any]]


class Booted(TypedDict):
    """Which boots were made, and not taken from the cache."""

    baseline: bool
    changed: bool


class Tried(Exact):
    """`firstlight try`."""

    booted: Booted
    limit: str | None
    regression: bool


Calibrated = Band | Calibration | BoardModel | StorageFit
"""`firstlight calibrate`: a noise band of an exact recording, the noise of a testbed, or a model of a board."""


_Span = TypedDict("_Span", {"from": str | None, "to": str | None})


class Experiment(_Span):
    """`firstlight experiment`; `docs/reference/formats/experiment.md` is the specification."""

    experiment: str
    title: str
    mode: str
    unit: str
    seed: int
    exact: dict[str, bool | None]
    notes: list[str]
    cells: list[dict[str, Any]]
    factors: list[dict[str, Any]]
    design: str | None
    effects: list[dict[str, Any]]
    interactions: list[dict[str, Any]]
    aliases: list[dict[str, Any]]
    shares: dict[str, Any]
    stages: dict[str, Any] | None
    quantiles: list[dict[str, Any]]


class PredictedOnBoard(TypedDict):
    """`firstlight predict`: what an exact change means on a board, in nanoseconds."""

    board: str
    level: float
    ns: float
    low_ns: float
    high_ns: float
    parts: dict[str, float]
    beyond: list[str]


class PlannedBoot(TypedDict):
    """A boot of a plan; `there`: it is in the experiment already."""

    cell: str
    repeat: int
    there: bool


class ExperimentPlan(TypedDict):
    """`firstlight experiment run --dry-run`."""

    experiment: str
    mode: str
    seed: int
    cells: list[dict[str, Any]]
    boots: list[PlannedBoot]


class Scale(TypedDict):
    """`firstlight scale`."""

    format: str
    version: int
    title: str
    variable: str
    unit: str
    cost: str
    cost_unit: str | None
    configurations: list[dict[str, Any]]
    crossovers: list[dict[str, Any]]
    notes: list[str]


class TakenWork(TypedDict):
    """A change as it was applied: `less` is a share, from 0 to 1."""

    name: str
    part: str
    less: float
    work_ns: int
    follows_ns: int
    threads: int


class PredictedMark(TypedDict):
    mark: str
    recorded_ns: int
    predicted_ns: int | None
    change_ns: int | None


class PredictedPath(TypedDict):
    """What a program contributes to the path to the goal."""

    name: str
    service: str | None
    before_ns: int
    after_ns: int
    change_ns: int


class ProvedBoot(TypedDict):
    """The boot without the work, and how far the prediction was off."""

    boot: str
    how: list[str]
    proved_ns: int
    error_ns: int
    error: float
    baseline_booted: bool


class Predicted(TypedDict):
    """`firstlight whatif`; `proof` is null without `--prove`."""

    boot: str
    goal: str
    recorded_ns: int
    predicted_ns: int
    change_ns: int
    idle_ns: int
    slack_ns: int
    residual_ns: int
    taken: list[TakenWork]
    marks: list[PredictedMark]
    path: list[PredictedPath]
    cautions: list[str]
    proof: ProvedBoot | None


class Applied(TypedDict):
    """`firstlight apply`."""

    files: dict[str, str]


class TunedRemedy(TypedDict):
    """One remedy of a tuning."""

    id: str
    title: str
    layer: str
    risk: str
    takes_away: str
    kept: bool
    why: str | None
    first_in_ns: int | None
    last_out_ns: int | None
    share_ns: int | None


class TunedChoice(TypedDict):
    """One boot of a tuning."""

    remedies: list[str]
    step: str
    time_ns: int | None
    why: str
    risk: int


class Tuned(TypedDict):
    """`firstlight tune`."""

    goal: str
    allow: list[str]
    budget: int
    complete: bool
    boots: int
    before_ns: int | None
    after_ns: int | None
    kept: list[str]
    remedies: list[TunedRemedy]
    together_ns: int | None
    not_applicable: dict[str, str]
    kernel: KernelSearch | None
    trials: list[TunedChoice]
    pareto: list[TunedChoice]
    phases: list[PhaseChange]
    health: list[CheckResult]
