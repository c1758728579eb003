"""The digest of everything that decides a boot, before it is recorded."""

from __future__ import annotations

from firstlight.bundle.manifest import KEY_VERSION
from firstlight.lab.run.resolve import Inputs
from firstlight.recipe.key import key_of


def key_of_inputs(inputs: Inputs) -> str:
    """The key of a boot that is yet to be recorded."""
    return key_of(inputs.recipe, inputs.digests, KEY_VERSION)
