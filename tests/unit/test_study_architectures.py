"""Studies on another architecture: which take it, what they leave out there, and which kernels fit."""

from __future__ import annotations

import json
import re
import struct
import sys
from importlib import resources
from pathlib import Path

import pytest

import firstlight
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, LabError, UsageError
from firstlight.lab.host.progress import SilentProgress
from firstlight.recipe.isa import architecture_of, architectures, chosen_architecture
from firstlight.recipe.machine_feature import MachineFeature
from firstlight.render.study_json import outcome_data
from firstlight.render.terminal.experiment_progress import ExperimentProgress
from firstlight.study.catalogue import Study, find_study
from firstlight.study.claims import claims_of
from firstlight.study.extent import Extent
from firstlight.study.made_of import made_of
from firstlight.study.outcome import Outcome, Verdict
from firstlight.study.recheck import read_findings
from firstlight.study.runner import Lab, make_images
from firstlight.study.table import MissingValue
from firstlight.study.verdicts import evaluate
from firstlight_studies.kernel_hotspots.remedies import PLAIN, chosen, left_out, remedies

ARM = architecture_of("aarch64")
HOTSPOTS = "firstlight_studies.kernel_hotspots"


@pytest.fixture
def arm_kernel(tmp_path: Path) -> Path:
    """A kernel for arm64 that nothing would boot."""
    header = struct.pack("<2sxxIQQQ24x4sI", b"MZ", 0x1400_0100, 0, 16 << 20, 0xA, b"ARM\x64", 0x40)
    path = tmp_path / "Image"
    path.write_bytes(header + b"Linux version 6.1.0-mine (a@b) #1 SMP\n" + bytes(4096))
    return path


def test_a_walk_on_an_architecture_without_its_programs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["study", "tree-walk", "--arch", "riscv64"], ["walk", "--arch", "riscv64"]):
        assert run(words) == 2
        said = capsys.readouterr().err
        assert "the study `tree-walk` does not cover guests of riscv64" in said
        assert "hint: it covers amd64, arm64: give one of them, such as `--arch amd64`" in said
    covered = [architecture_of(name) for name in architectures()]
    assert {each.distribution_name for each in covered if each.walk_assets} == {*find_study("tree-walk").architectures}


def test_a_quick_walk_takes_no_debian_that_boots() -> None:
    walk = find_study("tree-walk")
    assert walk.images_of(Extent(quick=True, arch="arm64")) == ("kernel", "debian-programs")
    assert walk.images_of(Extent(arch="arm64")) == ("kernel", "debian-programs", "debian")


@pytest.mark.parametrize("name", ["udev-ptys", "lvm-activation"])
def test_a_study_that_does_not_cover_an_architecture_says_which_it_covers(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", name, "--arch", "arm64"]) == 2
    said = capsys.readouterr().err
    assert f"the study `{name}` does not cover guests of arm64" in said
    assert "hint: it covers amd64: leave `--arch` out" in said


def test_the_list_states_the_architectures_of_each_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", "list", "--json"]) == 0
    listed = {each["name"]: each["architectures"] for each in json.loads(capsys.readouterr().out)["data"]}
    assert (listed["kernel-hotspots"], listed["tree-walk"]) == (["amd64", "arm64", "riscv64"], ["amd64", "arm64"])
    assert run(["study", "list"]) == 0
    assert "amd64, arm64" in capsys.readouterr().out


def test_an_architecture_has_both_its_names_and_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["study", "kernel-hotspots", "--arch", "vax"]) == 2
    assert "no architecture of guests is called `vax`" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="does not cover guests of ppc64el") as caught:
        firstlight.run_study("kernel-hotspots", tmp_path / "out", arch="ppc64el")
    assert caught.value.hint == "it covers amd64, arm64, riscv64: give one of them, such as `--arch amd64`"
    # The usual one may be given by either name: it is the same study.
    find_study("udev-ptys").check(Extent())
    find_study("kernel-hotspots").check(Extent(arch="aarch64"))


def test_a_kernel_of_another_architecture_is_named_with_the_remedy(
    arm_kernel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    for words in (["study", "kernel-hotspots", "--quick"], ["study", "recheck", "kernel-hotspots"]):
        assert run([*words, "--kernel", str(arm_kernel), "-o", out]) == 1
        said = capsys.readouterr().err
        assert "this is a kernel for arm64, and the study boots guests of amd64" in said
        assert "hint: add `--arch arm64`, or give a kernel for amd64" in said
    Extent(kernel=arm_kernel, arch="arm64").check_kernel()
    with pytest.raises(LabError, match="a kernel for arm64, and the study boots guests of riscv64"):
        Extent(kernel=arm_kernel, arch="riscv64").check_kernel()


def test_the_lab_has_no_kernel_of_its_own_there_and_does_not_download_one(tmp_path: Path) -> None:
    reason = "the lab's kernel is not made for guests of arm64"
    made = make_images(["kernel"], SilentProgress(), arch="arm64")
    assert made == {"kernel": MissingValue(reason)}
    with ExperimentProgress() as progress:
        lab = Lab(tmp_path, progress, made, Extent(arch="arm64"))
        assert (lab.architecture, lab.stock, lab.has_own_kernel) == (ARM, True, False)
        assert lab.image("kernel") == MissingValue(reason)
        given = Lab(tmp_path, progress, made, Extent(arch="arm64", kernel=tmp_path / "Image"))
        assert given.has_own_kernel
        assert Lab(tmp_path, progress).has_own_kernel


def outcome(tmp_path: Path, arch: str | None) -> Outcome:
    study = Study("mine", "T", "Q?", (), f"{HOTSPOTS}.run", architectures=("amd64", "arm64"))
    figures = dict.fromkeys(_figures(), MissingValue("not booted"))
    with ExperimentProgress() as progress:
        return study.outcome(Lab(tmp_path, progress, extent=Extent(quick=True, arch=arch)), recipe=(), tables=(),
                             figures=figures)  # fmt: skip


def _figures() -> set[str]:
    """Every figure that a claim names, or states in a text."""
    texts = (resources.files(HOTSPOTS) / "claims.toml").read_text(encoding="utf-8")
    named = {name for claim in claims_of(HOTSPOTS) for name in (claim.figure, claim.band) if name}
    return named | set(re.findall(r"\{([a-z0-9-]+)", texts))


def test_the_architecture_is_a_part_of_the_data_the_page_and_the_command(tmp_path: Path) -> None:
    arm, usual = outcome(tmp_path, "arm64"), outcome(tmp_path, None)
    assert (outcome_data(arm)["architecture"], outcome_data(usual)["architecture"]) == ("arm64", "amd64")
    assert "`firstlight study mine --arch arm64 --quick -o DIR` repeats it" in arm.recipe[0]
    assert arm.notes[0].startswith(f"Guests of arm64: QEMU's machine {ARM.machine} with the processor")
    assert usual.notes == ()


def test_a_claim_about_what_a_guest_does_not_have_does_not_apply_and_says_why(tmp_path: Path) -> None:
    found = {finding.id: finding for finding in outcome(tmp_path, "arm64").findings}
    gone = {name for name, finding in found.items() if finding.verdict is Verdict.NOT_APPLICABLE}
    assert gone == {
        "no-tsc-lpj", "tsc-preset", "update-in-progress", "memory-later", "acpi-configured", "pci-configured",
        "ports-configured",
    }  # fmt: skip
    assert found["acpi-configured"].now == "does not apply on arm64, because a guest there has no ACPI"
    assert found["lpj"].verdict is Verdict.NOT_TESTABLE
    assert all(finding.verdict is Verdict.NOT_TESTABLE for finding in outcome(tmp_path, None).findings)


def test_a_claim_without_a_figure_is_evaluated_only_where_it_applies() -> None:
    (claim,) = [each for each in claims_of(HOTSPOTS) if each.id == "tsc-preset"]
    assert evaluate([claim], {}, architecture=ARM)[0].verdict is Verdict.NOT_APPLICABLE
    with pytest.raises(FirstlightError, match="no figure `tsc-preset-saved-share` was measured"):
        evaluate([claim], {})


@pytest.mark.parametrize("quick", [True, False])
def test_arms_that_cannot_be_there_are_left_out_each_with_a_reason(quick: bool) -> None:
    tried = chosen("stock", quick=quick, alone=True, architecture=ARM)
    names = {each.name for each in tried}
    assert {"quiet", "lpj", "loop-module", "memory-limited"} <= names
    assert not any(each.needs or each.built_in or each.cpu for each in tried)
    assert {each.against for each in tried} <= names | {PLAIN}
    reasons = left_out("lab", quick=quick, alone=True, architecture=ARM)
    assert reasons["acpi-configured"] == "a guest there has no ACPI"
    assert set(reasons) == {each.name for each in remedies() if each.quick or not quick} - names


def test_a_kernel_of_the_user_is_not_asked_to_mount_a_root_where_none_can() -> None:
    assert {each.root_as for each in chosen("lab", quick=True, architecture=ARM)} == {None}
    reasons = left_out("lab", quick=True, architecture=ARM)
    assert reasons["ext2-root"] == "a kernel there cannot mount its root by itself"


def test_the_usual_architecture_has_every_feature_and_leaves_nothing_out() -> None:
    usual = chosen_architecture("amd64")
    assert usual.features == frozenset(MachineFeature)
    for quick in (True, False):
        assert left_out("lab", quick=quick) == {}


def test_studies_of_two_architectures_are_not_compared(tmp_path: Path) -> None:
    data = {"study": "mine", "architecture": "arm64", "findings": []}
    (tmp_path / "study.json").write_text(json.dumps(data))
    assert read_findings(tmp_path, "mine", "arm64") == ()
    with pytest.raises(FirstlightError, match="this study booted guests of arm64, not of amd64") as caught:
        read_findings(tmp_path, "mine")
    assert caught.value.hint == "compare it with a kernel for arm64: `--arch arm64`"
    del data["architecture"]
    (tmp_path / "study.json").write_text(json.dumps(data))
    assert read_findings(tmp_path, "mine") == ()


@pytest.mark.parametrize(
    ("change", "full", "said", "hint"),
    [
        ({"plan": "0"}, False, "its plan has changed since", "--arch arm64 --quick -o DIR`"),
        ({"claims": "0"}, False, "its claims have changed since", "--arch arm64 --quick -o DIR`"),
        (
            {"options": "--arch arm64"},
            False,
            "the recheck runs `--arch arm64 --quick`",
            "`--full`",
        ),
        ({}, True, "with `--arch arm64 --quick`, and the recheck runs `--arch arm64`", "--arch arm64 -o DIR`"),
        (None, False, "the recheck runs `--arch arm64 --quick`", "`--full`"),
    ],
)
def test_a_study_that_differs_in_more_than_the_kernel_is_not_compared(
    arm_kernel: Path, tmp_path: Path, change: dict[str, str] | None, full: bool, said: str, hint: str
) -> None:
    """Without a change: a study of an earlier version, which was not quick."""
    made = made_of(HOTSPOTS, Extent(quick=True, arch="arm64"))
    data = {"study": "kernel-hotspots", "architecture": "arm64", "quick": change is not None, "findings": []}
    if change is not None:
        data["quick"] = change.get("options") is None
        data["made_of"] = {**made, **change}
    (tmp_path / "study.json").write_text(json.dumps(data))
    with pytest.raises(FirstlightError, match="this study is not comparable") as caught:
        firstlight.recheck_study(
            "kernel-hotspots", arm_kernel, tmp_path / "out", arch="arm64", against=tmp_path, full=full
        )
    assert said in caught.value.message
    assert hint in str(caught.value.hint)
    assert not (tmp_path / "out").exists()


def test_a_kernel_that_is_not_there_is_named_before_anything_boots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["study", "recheck", "kernel-hotspots", "--kernel", str(tmp_path / "none"), "-o", str(out)]) == 2
    said = capsys.readouterr().err
    assert "there is no such kernel" in said
    assert "leave the option out" not in said
    assert not out.exists()


def test_a_plan_names_the_architectures_that_its_study_covers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from firstlight.study.planned import planned_study

    package = tmp_path / "planned_arm"
    package.mkdir()
    (package / "__init__.py").touch()
    plan = (
        'name = "mine"\ntitle = "T"\nquestion = "Q?"\nbaseline = "a"\narchitectures = ["amd64", "ARCH"]\n[arm.a]\n'
        '[measure.boot]\nfirst = "power_on"\nlast = "ready"\n'
    )
    (package / "plan.toml").write_text(plan.replace("ARCH", "arm64"))
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("planned_arm", None)
    assert planned_study("planned_arm").architectures == ("amd64", "arm64")
    (package / "plan.toml").write_text(plan.replace("ARCH", "vax"))
    with pytest.raises(FirstlightError, match="there is no architecture `vax`"):
        planned_study("planned_arm")
