"""Whatever a hostile bundle holds: no verb runs a program of its choice, or touches a file outside it and the cache."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import firstlight.lab.run.options_from_manifest
from answers import SCHEMAS
from bundles import make_bundle, make_recorded
from firstlight.bundle import contents
from firstlight.cli.main import run
from firstlight.errors import LabError
from firstlight.lab.host.made_here import remember
from firstlight.recipe.recipe import Files
from hostile import CONTENTS, KINDS, make_canaries, make_hostile
from observer import Seen, observed

#: What is done to `bad.boot`, which is beside a good `good.boot`; every verb that takes a bundle.
VERBS = [
    "show BAD", "show BAD --json", "audit BAD", "functions BAD", "initcalls BAD", "devices BAD", "units BAD",
    "path BAD", "log BAD", "compare GOOD BAD", "compare BAD GOOD", "report BAD -o page.html --force", "verify BAD",
    *(f"export BAD --to {form} -o out.{form} --force"
      for form in ("perfetto", "firefox", "speedscope", "folded", "uftrace", "csv", "json", "svg", "timeline-svg")),
    "bless BAD --as bad --because it", "gate BAD --baseline good", "gate BAD --baseline good --confirm",
    "calibrate BAD -o band.json --force", "calibrate BAD --pairs 12", "calibrate .", "history add h.duckdb BAD --at a",
    "history show .", "try --append quiet --against BAD", "try --kernel GOOD/manifest.json --against BAD",
    "experiment show BAD", "import BAD -o imported.boot --force",
]  # fmt: skip

PROGRAMS = [path for name in ("qemu-system-x86_64", "setpriv", "busybox", "mke2fs") if (path := shutil.which(name))]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a good boot and its baseline; a cache of its own; no default kernel."""

    def none(_architecture: object) -> None:
        raise LabError("this machine has no kernel")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("firstlight.lab.run.resolve.default_kernel", none)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    make_recorded(make_bundle(work, name="good.boot"))
    assert run(["bless", "good.boot", "--as", "good", "--because", "first"]) == 0
    make_canaries(tmp_path / "canaries")
    return work


#: Of kinds that only change the recipe: those that boot it, and some of those that read.
_SOME = (
    "show BAD",
    "compare",
    "report",
    "verify",
    "export BAD --to csv",
    "bless",
    "gate",
    "calibrate BAD -o",
    "try",
    "audit",
)


def verbs_for(kind: str) -> list[str]:
    """Every verb, or quickly those that have to do with what this kind changes (`EVERY_VERB=1`, `make hostile`)."""
    if os.environ.get("EVERY_VERB") or kind in CONTENTS:
        return VERBS
    return [verb for verb in VERBS if verb.startswith(_SOME)]


def all_verbs(place: Path, kind: str) -> tuple[Seen, dict[str, int]]:
    """Do everything to a bundle of this kind."""
    bad = make_hostile(kind, place, place.parent / "canaries").rename(place / "bad.boot")
    # The tests themselves read the schemas, to check every answer.
    allowed = [place, place.parent / "cache", place.parent / "temporary", SCHEMAS]
    codes: dict[str, int] = {}
    with observed(allowed, place.parent / "canaries", PROGRAMS) as seen:
        for verb in verbs_for(kind):
            codes[verb] = run([word.replace("BAD", bad.name).replace("GOOD", "good.boot") for word in verb.split()])
    return seen, codes


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_runs_and_nothing_outside_is_touched(
    place: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, _ = all_verbs(place, kind)
    assert seen.executed == []
    assert seen.touched == []
    assert not (place.parent / "canaries" / "ran").exists()
    assert "Traceback" not in capsys.readouterr().err


class TestTheObserverSees:
    """Each of the guards taken away: what it guards against is seen then."""

    def test_a_program_of_the_bundle(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(firstlight.lab.run.options_from_manifest, "made_here", lambda manifest: True)
        seen, _ = all_verbs(place, "QEMU is a program of its own")
        assert any("canaries/program" in each for each in seen.executed)
        assert (place.parent / "canaries" / "ran").exists()

    @pytest.mark.parametrize(
        "kind", ["a kernel of its own", "the firmware's configuration reads a file", "files laid over the guest's"]
    )
    def test_files_that_a_recipe_names(self, place: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(firstlight.lab.run.options_from_manifest, "made_here", lambda manifest: True)
        # Overlays are looked at once there is a kernel.
        monkeypatch.setattr("firstlight.lab.run.resolve.default_kernel", lambda _architecture: None)
        monkeypatch.setattr("firstlight.lab.run.resolve._guest", _look_at_overlay)
        seen, _ = all_verbs(place, kind)
        assert seen.touched != []

    @pytest.mark.parametrize("kind", ["a table is a link", "raw evidence is a link"])
    def test_files_that_links_lead_to(self, place: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("firstlight.bundle.open.check_contents", lambda bundle: None)
        monkeypatch.setattr("firstlight.bundle.boot.read_regular", lambda path, largest: path.read_bytes())
        seen, _ = all_verbs(place, kind)
        if kind == "a table is a link":
            assert any("inotify" in each for each in seen.touched)


def _look_at_overlay(options: object, *_: object) -> None:
    from firstlight.lab.rootfs.overlay import check_overlay

    overlay = getattr(options, "overlay", None)
    if overlay is not None:
        check_overlay(overlay)
    raise LabError("only looked at")


def test_a_bundle_from_here_is_as_harmless_as_its_maker(place: Path) -> None:
    """What was recorded here may name programs: it was this user who chose them."""
    from firstlight.bundle.open import read_manifest
    from firstlight.lab.host.made_here import made_here

    manifest = read_manifest(place / "good.boot")
    remember(manifest.file_digest, Files(kernel=Path("/k")), {})
    assert made_here(manifest)
    assert contents.LARGEST_MANIFEST > 1 << 20
