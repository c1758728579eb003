"""Bands: how far figures move by themselves, and what a change is worth beside that."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.exact.difference import exact_difference
from firstlight.comparison.noise_band import Band, BandBoot, band_of
from firstlight.comparison.robustness import check_against_band
from firstlight.comparison.sides.arms import CompareError
from firstlight.comparison.statistical.breakdown import BootParts, parts_of
from firstlight.errors import FirstlightError, UsageError
from firstlight.experiment.calibrate.file import read_band, write_band
from firstlight.experiment.calibrate.perturbations import make_band, nuisances
from firstlight.experiment.calibrate.testbed import calibrate_by_boots
from firstlight.recipe.options import RecordOptions
from firstlight.render.terminal.report import print_report
from firstlight.render.views.band import band_report
from varying_boots import noise, session


def _band(boot: Path, *, boots: int = 9, moved_ns: int = 1_000) -> Band:
    """A band in which one phase, and with it the whole, moved by *moved_ns* more from boot to boot."""
    opened = open_boot(boot)
    parts = parts_of(opened, ("phases", "functions"))
    figures, moved = [], []
    for number in range(boots):
        more = number * moved_ns
        figures.append(BandBoot(change=f"change {number}" if number else "", virtual_ns=parts.whole_ns + more,
                                instructions=1, idle_ns=0))  # fmt: skip
        phases = {key: ns + (more if key[0] == "early_init" else 0) for key, ns in parts.levels["phases"].items()}
        moved.append(BootParts(parts.whole_ns + more, {**parts.levels, "phases": phases}))
    return band_of(figures, moved, boot=str(boot), manifest=opened.manifest, skipped=[])


def test_a_band_holds_the_range_of_the_whole_and_of_every_part_that_moved(tmp_path: Path) -> None:
    band = _band(make_bundle(tmp_path))
    assert band.virtual_ns.width == 8_000
    assert band.widths("phases") == {("early_init", "", ""): 8_000}
    assert band.widths("functions") == {}
    assert band.instructions is not None
    assert band.instructions.width == 0


def test_the_report_names_levels_and_rows_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    band = _band(make_bundle(tmp_path))
    band = band.model_copy(update={"levels": {"phases": band.levels["phases"], "system_calls": []}})
    print_report(band_report(band))
    text = capsys.readouterr().out
    assert "System calls: 0 changed without a cause" in text
    assert "early_init " in text
    assert "[]" not in text


def test_a_change_within_the_band_is_exact_but_not_robust(tmp_path: Path) -> None:
    boot = make_bundle(tmp_path)
    other = make_bundle(tmp_path, name="b.boot", seed=2)
    difference = exact_difference(open_boot(boot), open_boot(other))
    change = abs(difference.whole.change_ns)
    assert change > 0
    narrow, wide = (
        check_against_band(difference, _band(boot)),
        check_against_band(difference, _band(boot, moved_ns=change)),
    )
    assert narrow.total.robust
    assert not wide.total.robust
    others = [row for row in wide.levels["phases"] if row.name != "early_init"]
    assert others
    assert all(row.robust for row in others)
    data = json.loads(json.dumps(wide.to_data()))
    assert data["total"]["robust"] is False
    assert data["total"]["band_ns"] == 8 * change


def test_a_band_of_another_kernel_is_refused_and_of_another_recipe_is_reported(tmp_path: Path) -> None:
    boot = make_bundle(tmp_path)
    difference = exact_difference(open_boot(boot), open_boot(make_bundle(tmp_path, name="b.boot", seed=2)))
    band = _band(boot)
    assert check_against_band(difference, band).caution is None
    other = check_against_band(difference, band.model_copy(update={"key": "0" * 64}))
    assert other.caution is not None
    assert "whose recipe differs from the baseline's" in other.caution
    with pytest.raises(CompareError, match="of another kernel"):
        check_against_band(difference, band.model_copy(update={"kernel": "0" * 64}))


def test_seven_boots_are_too_few_for_a_band(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a noise band needs at least 8 boots that differ, there are 7"):
        _band(make_bundle(tmp_path), boots=7)


def test_every_change_leaves_kernel_and_content_as_they_are(tmp_path: Path) -> None:
    manifest = open_boot(make_bundle(tmp_path)).manifest
    former = RecordOptions(output=tmp_path / "a.boot", append="quiet", memory="512M")
    changes, skipped = nuisances(former, manifest)
    assert len(changes) >= 8
    assert skipped == []
    for change in changes:
        same = replace(
            change.options, append=former.append, memory=former.memory, seed=former.seed, initramfs_order=None
        )
        assert same == former
        assert change.options != former
    assert {change.options.memory for change in changes} == {"512M"}  # more of it is work of its own
    assert all(change.options.append.split()[0] == "quiet" for change in changes)


def test_what_cannot_be_changed_is_reported(tmp_path: Path) -> None:
    manifest = open_boot(make_bundle(tmp_path)).manifest
    former = RecordOptions(output=tmp_path / "a.boot", initrd=tmp_path / "own.cpio", append="x" * 1_900)
    changes, skipped = nuisances(former, manifest)
    assert not any(change.options.initramfs_order for change in changes)
    assert any("initramfs in another order" in text for text in skipped)
    assert any("command line longer by" in text for text in skipped)


def test_bands_survive_their_file(tmp_path: Path) -> None:
    band = _band(make_bundle(tmp_path))
    write_band(band, tmp_path / "band.json")
    assert read_band(tmp_path / "band.json") == band
    assert [path.name for path in tmp_path.glob("*.json")] == ["band.json"]


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "not JSON"), ("[1]", "not a band"), ('{"kind": "other"}', "not a band"), ('{"kind": "nuisance"}', "damaged"),
     ("[" * 100_000, "not JSON"), ("\udcff", "not text")],
)  # fmt: skip
def test_files_that_are_no_bands_are_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "band.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(FirstlightError, match=said):
        read_band(path)


def test_boots_that_vary_have_no_nuisance_band(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="a boot in live mode has no noise band"):
        make_band(make_bundle(tmp_path, live=True))


def test_a_folder_of_equal_boots_calibrates_a_testbed(tmp_path: Path) -> None:
    session(tmp_path, noise(24, sigma=0.004))
    found = calibrate_by_boots(tmp_path / "a", seed=5)
    assert (found.pairs, found.seed, found.is_stable) == (12, 5, True)
    assert 0.2 < found.sigma_percent < 1.2
    assert calibrate_by_boots(tmp_path / "a", seed=5).a_ns == found.a_ns
    assert sorted([*found.a_ns, *found.b_ns]) == sorted(parts_of(open_boot(path), ()).whole_ns
                                                        for path in (tmp_path / "a").iterdir())  # fmt: skip
