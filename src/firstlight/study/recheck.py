"""The claims of a study on two kernels: which verdicts differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstlight.errors import FirstlightError
from firstlight.recipe.isa import DEFAULT
from firstlight.study.made_of import differences
from firstlight.study.outcome import Finding, MissingArm, Verdict


@dataclass(frozen=True)
class Rechecked:
    """One claim on two kernels."""

    id: str
    claim: str
    before: Verdict
    after: Verdict
    now_before: str
    now_after: str

    @property
    def flipped(self) -> bool:
        """The verdict differs."""
        return self.before != self.after


@dataclass(frozen=True)
class Recheck:
    """All claims of a study on two kernels."""

    study: str
    rows: tuple[Rechecked, ...]
    missing: tuple[MissingArm, ...]
    """Arms that the other kernel could not boot."""

    @property
    def flipped(self) -> tuple[Rechecked, ...]:
        """The claims whose verdict differs."""
        return tuple(row for row in self.rows if row.flipped)


def compare_findings(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[Rechecked, ...]:
    """Join findings by their claims, in the order of the second.

    >>> old, new = (Finding("c", "", "5", Verdict(verdict), id="a") for verdict in ("holds", "no longer holds"))
    >>> [(row.id, row.flipped) for row in compare_findings([old], [new])]
    [('a', True)]
    """
    known = {finding.id: finding for finding in before}
    return tuple(
        Rechecked(new.id, new.claim, known[new.id].verdict, new.verdict, known[new.id].now, new.now)
        for new in after
        if new.id in known
    )


def read_findings(
    folder: Path, study: str, architecture: str = DEFAULT.distribution_name, made_of: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """The findings of a finished study.

    :param architecture: of the guests, as the distribution calls it.
    :param made_of: what the study is made of now; only the kernel may differ from it.
    :raises FirstlightError: when the directory has no such study, one with guests of another architecture, or one of
        another plan, other claims or other options.
    """
    path = folder / "study.json"
    hint = f"run it: `firstlight study {study} -o {folder}`"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["study"] != study:
            raise FirstlightError(f"this is the study `{data['study']}`, not `{study}`", where=str(path))
        # Studies of earlier versions have guests of this architecture alone.
        booted = data.get("architecture", DEFAULT.distribution_name)
        if booted != architecture:
            raise FirstlightError(
                f"this study booted guests of {booted}, not of {architecture}",
                where=str(path), hint=f"compare it with a kernel for {booted}: `--arch {booted}`",
            )  # fmt: skip
        if made_of is not None:
            _check(data, booted, made_of, path, study)
        return tuple(
            Finding(each["claim"], each["then"], each["now"], Verdict(each["verdict"]), id=each["id"])
            for each in data["findings"]
        )
    except OSError as error:
        raise FirstlightError(f"cannot be read: {error.strerror}", where=str(path), hint=hint) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FirstlightError("this is not a study of this version", where=str(path), hint=hint) from error


def _check(data: Mapping[str, Any], booted: str, made_of: Mapping[str, str], path: Path, study: str) -> None:
    """Check that nothing but the kernel can be why a verdict differs.

    :param booted: the architecture of its guests.

    :raises FirstlightError: naming what else does.
    """
    # Studies of earlier versions state only whether they were quick.
    arch = "" if booted == DEFAULT.distribution_name else f"--arch {booted}"
    older = {"options": " ".join(filter(None, (arch, "--quick" if data["quick"] else "")))}
    if differ := differences(data.get("made_of") or older, made_of):
        options = made_of["options"]
        hint = f"run it again: `firstlight study {study}{options and f' {options}'} -o DIR`"
        if "--quick" in options and not data["quick"]:
            hint += ", or recheck all arms: `--full`"
        raise FirstlightError(f"this study is not comparable: {'; '.join(differ)}", where=str(path), hint=hint)
