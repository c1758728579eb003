"""What decided a recorded boot, as one digest: the same key, the same boot in exact mode."""

from __future__ import annotations

import json
from collections.abc import Mapping

from firstlight.bundle.manifest import KEY_VERSION, Manifest
from firstlight.cache import digest_of
from firstlight.recipe.described import Described
from firstlight.recipe.key import key_of
from firstlight.recipe.recipe import Recipe


def key_of_boot(manifest: Manifest) -> str:
    """The key of a recorded boot: that of its inputs when it was recorded.

    One that Firstlight did not make has the digest of all that is said of it.
    """
    if isinstance(manifest.recipe, Recipe):
        return key_of(manifest.recipe, manifest.digests, KEY_VERSION)
    return key_of_described(manifest.recipe, manifest.digests)


def key_of_described(recipe: Described, digests: Mapping[str, str | None]) -> str:
    """The key of a boot that Firstlight did not make.

    >>> from firstlight.recipe.described import Described
    >>> key_of_described(Described(append="quiet"), {}) == key_of_described(Described(), {})
    False
    """
    said = [recipe.model_dump(mode="json"), dict(digests)]
    return digest_of("described", json.dumps(said, sort_keys=True))
