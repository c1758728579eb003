"""What every test may use."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from answers import check_answer
from firstlight.cli.envelope import Envelope

#: The example package of a user is found by its entry points alone; collecting its modules would put it on the path.
collect_ignore = ["study_package"]

# A busy machine is not a fault: how long an example takes decides nothing.
settings.register_profile("firstlight", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("firstlight")


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on the terminal or the settings of the person who runs it."""
    for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TERMINAL_WIDTH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FIRSTLIGHT_FARM_KEYS", "/no/such/directory")


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the golden tests offer."""
    parser.addoption("--update-golden", action="store_true", help="write the expectations of the golden tests anew")


@pytest.fixture(autouse=True)
def _answers_fit_their_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test makes a command print with `--json` is checked against the published schema."""
    printed = Envelope.print

    def checked(envelope: Envelope) -> None:
        if envelope.parts:
            check_answer(envelope.document(), envelope.verb)
        printed(envelope)

    monkeypatch.setattr(Envelope, "print", checked)
