"""Studies on arm64: arms of the classic ones, as these boot and measure them, and a planned one from start to end."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from firstlight.bundle.boot import Boot
from firstlight.cli.main import run
from firstlight.lab.host.progress import SilentProgress
from firstlight.render.terminal.experiment_progress import ExperimentProgress
from firstlight.study.extent import Extent
from firstlight.study.runner import Lab, StudyArm, make_images
from firstlight.study.skeleton import write_skeleton
from firstlight_studies.catalogue import TREE_WALK
from firstlight_studies.kernel_hotspots.arms import options_of
from firstlight_studies.kernel_hotspots.coverage_tables import linked_of
from firstlight_studies.kernel_hotspots.linked import Linked
from firstlight_studies.kernel_hotspots.measured import HotspotTimings, measure
from firstlight_studies.root_filesystems.arms import Roots
from firstlight_studies.root_filesystems.content import FILES, write_content
from firstlight_studies.root_filesystems.measures import FilesystemTimings
from firstlight_studies.tree_walk.run import measure as measure_walk
from firstlight_studies.tree_walk.workload import TOOLS, Shape, Workload
from other_guests import boots_of

pytestmark = boots_of("arm64")


@pytest.fixture(scope="module")
def boots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Boot]:
    folder: Path = tmp_path_factory.mktemp("hotspots")
    arms = [StudyArm("plain", options_of(None)), StudyArm("quiet", options_of(None, "quiet"))]
    with ExperimentProgress() as progress:
        lab = Lab(folder, progress, extent=Extent(quick=True, arch="arm64"))
        found = lab.boot_all(arms)
    assert lab.missing == []
    return {name: boot for name, boot in found.items() if isinstance(boot, Boot)}


def test_the_distributions_kernel_for_it_is_booted_and_the_window_is_a_partition(boots: dict[str, Boot]) -> None:
    assert boots["plain"].manifest.recipe_text("architecture") == "aarch64"
    timings = measure(boots["plain"])
    assert isinstance(timings, HotspotTimings)
    assert timings.parts.whole_ns == timings.window.length_ns
    assert timings.health.lpj is not None
    assert timings.health.probed.slept_ns is not None
    linked = linked_of(boots["plain"])
    assert isinstance(linked, Linked)
    # One of each part of the text.
    assert {"start_kernel", "kernel_init"} <= linked.plain_names()


def test_fewer_messages_are_seen_at_the_port(boots: dict[str, Boot]) -> None:
    plain, quiet = (measure(boots[name]) for name in ("plain", "quiet"))
    assert isinstance(plain, HotspotTimings)
    assert isinstance(quiet, HotspotTimings)
    assert plain.printed.lines > quiet.printed.lines
    assert plain.printed.size > 0


def test_a_root_that_is_an_archive_boots_and_reads_every_text(tmp_path: Path) -> None:
    with ExperimentProgress() as progress:
        lab = Lab(tmp_path, progress, extent=Extent(quick=True, arch="arm64"))
        roots = Roots(None, write_content(lab.scratch), lab.architecture)
        boot = lab.boot_all([roots.arm("initramfs")])["initramfs"]
    assert isinstance(boot, Boot)
    timings = FilesystemTimings(boot)
    assert timings.kept_number("data") == FILES
    assert timings.mount > 0
    assert isinstance(timings.reading, int)


def test_a_walk_has_its_figures_there_and_names_the_call_that_wakes_an_automount(tmp_path: Path) -> None:
    work = Workload(Shape.parse("20x20"), ("tmpfs", "xfs"), TOOLS[:1], alternations=1, counts_on=("tmpfs",))
    images = make_images(TREE_WALK.images, SilentProgress(), arch="arm64")
    with ExperimentProgress() as progress:
        outcome = measure_walk(work, Lab(tmp_path, progress, images, Extent(quick=True, arch="arm64")))
    assert outcome.missing == ()
    tables = {table.key: table for table in outcome.tables}
    for row in tables["penalty"].rows:
        cost, system = row[4], row[8]
        assert isinstance(cost, int)
        assert isinstance(system, int)
        # Some hundred instructions at least for each of 421 directories, nearly all of them in the kernel.
        assert cost > 421 * 300
        assert system > 0.9 * cost
    assert {(row[0], row[1]) for row in tables["penalty"].rows} == {
        (program, kind) for program in ("our walk", "chgrp -R 1000") for kind in ("tmpfs", "xfs")
    }
    assert [row[3] for row in tables["calls"].rows] == [2, 3, 2], "chgrp stats a directory as often as our walk does"
    woken = {row[0]: row[2] for row in tables["automounts"].rows}
    assert woken["call opendir"] == "openat (O_DIRECTORY)"
    assert woken["chgrp -R 1000 /t/d"] == "openat (O_DIRECTORY, O_NOFOLLOW)"
    assert woken["call lstat"] == ""
    assert {"/t/xfs", "/t/overlay"} <= {row[0] for row in tables["mount-points"].rows}
    verdicts = {finding.id: finding.verdict.value for finding in outcome.findings}
    assert (verdicts["listing"], verdicts["stat-asleep"]) == ("holds", "holds")


def test_a_planned_study_runs_there_and_a_second_run_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "own"
    write_skeleton("console-there", package)
    plan = package / "console_there/plan.toml"
    plan.write_text(plan.read_text().replace('baseline = "loud"', 'baseline = "loud"\narchitectures = ["arm64"]'))
    metadata = package / "console_there-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: console-there\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text("[firstlight.studies]\nconsole-there = console_there:STUDY\n")
    monkeypatch.syspath_prepend(str(package))
    sys.modules.pop("console_there", None)
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, more in ((one, []), (other, ["--fresh"])):
        assert run(["study", "console-there", "--arch", "aarch64", "--quick", "-o", str(folder), *more]) == 0
    data = json.loads((one / "study.json").read_text())
    assert data["architecture"] == "arm64"
    verdicts = {finding["id"]: finding["verdict"] for finding in data["findings"]}
    assert verdicts == {"quiet-saves": "decided by the machine here", "printing-small": "holds"}
    for name in ("study.json", "study.md", "study.html"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    # Its plan covers arm64 alone.
    assert run(["study", "console-there", "-o", str(tmp_path / "third")]) == 2
