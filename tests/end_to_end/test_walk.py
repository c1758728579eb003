"""A walk in a guest: one small tree, one boot."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from firstlight.cli.main import run
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.render.terminal.experiment_progress import ExperimentProgress
from firstlight.study.extent import Extent
from firstlight.study.outcome import Outcome
from firstlight.study.runner import Lab
from firstlight.study.table import MissingValue
from firstlight_studies.tree_walk.run import measure
from firstlight_studies.tree_walk.workload import TOOLS, Shape, Workload

pytestmark = pytest.mark.boot
NO_DEBIAN = "there is no mmdebstrap"
NS = {"user": 1, "system": 2, "elapsed": 4}


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A tree of 421 directories on a kernel as it is, without any program of the distribution."""
    folder = tmp_path_factory.mktemp("walk")
    work = Workload(Shape.parse("20x20"), ("tmpfs", "ext4"), TOOLS[:1], alternations=2, audit=False)
    with ExperimentProgress() as progress:
        extent = Extent(kernel=default_kernel().path)
        return measure(work, Lab(folder, progress, {"debian-programs": MissingValue(NO_DEBIAN)}, extent))


def test_one_more_stat_costs_every_walk_the_same_in_the_kernel(walked: Outcome) -> None:
    table = next(table for table in walked.tables if table.key == "alternation-tmpfs")
    without, with_ = (
        [row for row in table.rows if str(row[0]).startswith(f"our walk, {manner},")] for manner in ("without", "with")
    )
    assert len(without) == len(with_) == 2
    users = {row[NS["user"]] for row in without}, {row[NS["user"]] for row in with_}
    assert [len(each) for each in users] == [1, 1], "user time is the same to the nanosecond in every alternation"
    penalty = next(table for table in walked.tables if table.key == "penalty").rows[0]
    cost, system, faults = penalty[4], penalty[8], penalty[9]
    assert isinstance(cost, int)
    assert isinstance(system, int)
    # Some hundred instructions at least for each of 421 directories, nearly all of them in the kernel.
    assert cost > 421 * 300
    assert system > 0.9 * cost
    assert faults == 0


def test_user_system_and_the_runner_add_up_to_the_elapsed_time(walked: Outcome) -> None:
    table = next(table for table in walked.tables if table.key == "alternation-tmpfs")
    for row in table.rows:
        user, system, elapsed = (row[place] for place in NS.values())
        if isinstance(user, int) and isinstance(system, int) and isinstance(elapsed, int):
            assert 0 < elapsed - user - system < 100_000


def test_what_is_missing_is_named_and_the_rest_is_measured(walked: Outcome) -> None:
    reasons = {missing.what: missing.reason for missing in walked.missing}
    assert reasons["alternation-ext4"] == NO_DEBIAN
    assert reasons["chgrp -R 1000 on tmpfs"] == NO_DEBIAN
    assert {finding.verdict for finding in walked.findings} == {"not testable here"}


def test_the_command_names_itself_as_what_repeats_it(tmp_path: Path) -> None:
    words = ["--shape", "5x5", "--fs", "tmpfs", "--command", "chgrp -R 1000 {}", "--alternations", "2",
             "--no-law", "--no-counts", "--no-audit"]  # fmt: skip
    run(["walk", *words, "--kernel", str(default_kernel().path), "-o", str(tmp_path / "w")])
    recipe = json.loads((tmp_path / "w/study.json").read_text())["recipe"]
    assert recipe[0] == f"`firstlight walk {shlex.join(words)} --kernel KERNEL -o DIR` repeats it."
    assert "xfs" not in recipe[2]
