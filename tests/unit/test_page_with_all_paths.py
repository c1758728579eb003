"""`report --all-paths`: a page in which no call path is put together with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import firstlight
from bundles import make_bundle
from firstlight.errors import UsageError
from firstlight.render.page.html import unpacked
from firstlight.render.page.parts import LATER


@pytest.fixture
def boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> firstlight.Boot:
    """A boot of which the usual page puts most call paths together, because the boot is small."""
    monkeypatch.setattr("firstlight.render.page.boot.FOLD_SHARE", 0.01)
    return firstlight.open(make_bundle(tmp_path))


def test_a_page_has_every_call_path(boot: firstlight.Boot) -> None:
    usual, complete = (_profile(firstlight.page(boot, all_paths=all_paths)) for all_paths in (False, True))
    assert 0 < len(usual["tree"]["parent"]) < boot.calls().height == len(complete["tree"]["parent"])
    assert any(usual["tree"]["folded"])
    assert not any(complete["tree"]["folded"])
    assert sum(complete["tree"]["self_instructions"]) == sum(usual["tree"]["self_instructions"])
    assert complete["pruning"]["kept"] == complete["pruning"]["nodes"] == boot.calls().height


def test_a_page_of_two_boots_has_none(boot: firstlight.Boot) -> None:
    with pytest.raises(UsageError, match="a page with all call paths has one boot"):
        firstlight.page(boot, boot, all_paths=True)


def _profile(page: str) -> Any:
    """What a page carries besides its head and its timeline."""
    return json.loads(unpacked(page.split(f'id="{LATER}">', 1)[1].split("<", 1)[0]))
