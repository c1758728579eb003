"""What the verdicts of a study rest on besides the boots: its plan, its claims and how much of it was run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import resources

from firstlight.cache import digest_of
from firstlight.study.claims import CLAIMS
from firstlight.study.extent import Extent

PLAN = "plan.toml"
"""The file of a study's package that says what it boots; a study with code has none."""


def made_of(package: str, extent: Extent) -> dict[str, str]:
    """The digests of a study's plan and claims, and the options of the run without the kernel.

    :param package: of the study.

    >>> {name: value[:8] for name, value in made_of("firstlight", Extent(quick=True)).items()}
    {'plan': '', 'claims': '', 'options': '--quick'}
    """
    plan, claims = (_digest(package, name) for name in (PLAN, CLAIMS))
    return {"plan": plan, "claims": claims, "options": replace(extent, kernel=None).options.strip()}


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Why two runs of a study cannot be held against each other, in words.

    >>> differences({"claims": "a", "options": ""}, {"claims": "b", "options": "--quick"})
    ['its claims have changed since', 'it was run without options, and the recheck runs `--quick`']
    """
    said = [
        f"its {what} {verb} changed since"
        for what, verb in (("plan", "has"), ("claims", "have"))
        if before.get(what, after.get(what)) != after.get(what)
    ]
    ran, runs = before.get("options", ""), after.get("options", "")
    if ran != runs:
        with_, now = (f"`{each}`" if each else "" for each in (ran, runs))
        said.append(f"it was run {f'with {with_}' if with_ else 'without options'}, and the recheck runs "
                    f"{now or 'without options'}")  # fmt: skip
    return said


def _digest(package: str, name: str) -> str:
    file = resources.files(package).joinpath(name)
    return digest_of(file.read_bytes()) if file.is_file() else ""
