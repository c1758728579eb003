"""The importer's scores on records derived from two exact boots, and the records themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import kept
from corpus.cases import UNDEGRADED, Case, cases
from corpus.damages import DAMAGES
from corpus.formats import FORMATS, Family
from corpus.lines import as_bytes
from corpus.run import shares, tallies_of
from corpus.scenes import SCENES, events_of
from corpus.truth import Truth, load

_STORED = Path(__file__).parents[1] / "fixtures/corpus"
_BOOTS = sorted(path.name.removesuffix(".json.gz") for path in _STORED.glob("*.json.gz"))
_FORMATS = ("dmesg", "journal json", "serial", "grabserial")
_DEGRADATIONS = frozenset(
    (
        UNDEGRADED,
        "head cut",
        "middle cut",
        "torn lines",
        "quoted in a mail",
        "loader in front",
        "second clock",
        "no `Run`",
    )
)


@pytest.fixture(scope="module", params=_BOOTS)
def truth(request: pytest.FixtureRequest) -> Truth:
    """The truth of one of the stored boots."""
    return load(_STORED / f"{request.param}.json.gz")


def test_an_undegraded_record_shows_every_message_of_its_boot(truth: Truth) -> None:
    for name, format in FORMATS.items():
        everything = format.family is Family.CONSOLE
        wanted = [n for n, one in enumerate(truth.messages) if everything or one.stamp_us is not None]
        assert [line.message for line in format.show(events_of(truth)) if line.message is not None] == wanted, name


def test_the_same_boot_gives_the_same_records(truth: Truth) -> None:
    assert [as_bytes(one.lines) for one in cases(truth, ["ts"])] == [
        as_bytes(one.lines) for one in cases(truth, ["ts"])
    ]


def test_every_degradation_changes_a_record(truth: Truth) -> None:
    assert {case.degradation for case in cases(truth, ["dmesg", "serial"])} >= {*DAMAGES, *SCENES} - {"no `Run`"}


def test_no_score_is_below_the_stored_one(truth: Truth, request: pytest.FixtureRequest) -> None:
    wanted: list[Case] = [case for case in cases(truth, _FORMATS) if case.degradation in _DEGRADATIONS]
    scores = {f"{truth.name} / {case}": figures for case, figures in shares(tallies_of(truth, wanted)).items()}
    stored = {
        case: figures
        for case, figures in kept.read(_STORED / "scores.toml").cases.items()
        if case.startswith(truth.name)
    }
    assert stored
    assert list(kept.falls(kept.StoredScores({}, scores), kept.StoredScores({}, stored))) == []
