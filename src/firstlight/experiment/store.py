"""The directory of an experiment: what it is made of, and what was booted so far.

A boot is a bundle, which is whole or not there; `experiment.json` says which ones belong to the experiment, and is
replaced as a whole. Nothing else is state: whatever was killed goes on from here.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import Field, ValidationError

from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import read_manifest
from firstlight.errors import FirstlightError
from firstlight.experiment.change import PlanSection

STATE = "experiment.json"
PLAN = "plan.toml"
_LOCK = ".lock"
SCHEMA = 1


class CellState(PlanSection):
    """One cell, as it is to be booted."""

    name: str = Field(description="as in the tables")
    directory: str = Field(
        pattern=r"^[^/\x00]*[^/.\x00][^/\x00]*$", description="below the experiment's, holds `1.boot`, `2.boot`, ..."
    )
    levels: dict[str, str] = Field(description="of each factor")
    key: str = Field(description="digest of recipe and inputs; empty: its kernel is not built")
    problem: str | None = Field(default=None, description="why it cannot be booted")


class State(PlanSection):
    """`experiment.json`."""

    schema_version: int = Field(ge=1, le=SCHEMA)
    plan_file: str = Field(description="the plan, when it was last run")
    seed: int = Field(description="of the order")
    order: list[tuple[int, int]] = Field(description="cell and repeat, from 0 and 1, in the order of booting")
    canary: int | None = Field(default=None, description="the cell that is booted twice to see that boots are exact")
    cells: list[CellState] = Field(min_length=1, description="in the order of the plan")


class Store:
    """An experiment's directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def bundle(self, cell: CellState, repeat: int) -> Path:
        """Where a boot is, or will be."""
        return self.path / cell.directory / f"{repeat}.boot"

    def has(self, cell: CellState, repeat: int) -> bool:
        """Whether a boot is there, of the recipe and inputs that the cell has now."""
        bundle = self.bundle(cell, repeat)
        if not bundle.is_dir():
            return False
        try:
            return key_of_boot(read_manifest(bundle)) == cell.key
        except FirstlightError:
            return False

    def read(self) -> State:
        """The state.

        :raises FirstlightError: when this is not an experiment's directory, or a damaged one.
        """
        where = self.path / STATE
        hint = "`firstlight experiment run PLAN.toml` makes one"
        try:
            text = where.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            what = "not an experiment: it has no `experiment.json`" if self.path.is_dir() else "no such experiment"
            raise FirstlightError(what, where=str(self.path), hint=hint) from error
        except (OSError, UnicodeDecodeError) as error:
            raise FirstlightError("the experiment's state cannot be read", where=str(where), hint=hint) from error
        try:
            version = json.loads(text).get("schema-version")
            if isinstance(version, int) and version > SCHEMA:
                raise FirstlightError(
                    f"the experiment has schema version {version}, this Firstlight reads up to {SCHEMA}",
                    where=str(where),
                    hint="update Firstlight",
                )
            return State.model_validate_json(text)
        except (ValidationError, ValueError, AttributeError) as error:
            raise FirstlightError(
                "the experiment's state is damaged", where=str(where), hint="run its plan again: boots are kept"
            ) from error

    def write(self, state: State, plan: str) -> None:
        """Replace state and plan, each as a whole."""
        _replace(self.path / PLAN, plan)
        _replace(self.path / STATE, state.model_dump_json(indent=1, by_alias=True) + "\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from running the same experiment meanwhile.

        :raises FirstlightError: when another process uses it.
        """
        descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise FirstlightError(
                    "this experiment is being run", where=str(self.path), hint="wait for it, or choose another `-o`"
                ) from error
            yield
        finally:
            os.close(descriptor)


def _replace(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).rename(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
