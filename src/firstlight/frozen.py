"""The bases of models that are stored or shown: immutable, and without unknown fields."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A model that rejects unknown fields and assignments."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StrictModel(FrozenModel):
    """A frozen model that converts no values."""

    model_config = ConfigDict(strict=True)
