"""Two arms of a classic study on arm64, as the study boots and measures them."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.bundle.boot import Boot
from firstlight.render.terminal.experiment_progress import ExperimentProgress
from firstlight.study.extent import Extent
from firstlight.study.runner import Lab, StudyArm
from firstlight_studies.kernel_hotspots.arms import options_of
from firstlight_studies.kernel_hotspots.coverage_tables import linked_of
from firstlight_studies.kernel_hotspots.linked import Linked
from firstlight_studies.kernel_hotspots.measured import HotspotTimings, measure
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
