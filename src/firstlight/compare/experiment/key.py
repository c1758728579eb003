"""What decides a boot, as one digest: the same key, the same boot in exact mode."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from firstlight.boot.manifest import SCHEMA_VERSION, Manifest
from firstlight.cache import digest_of
from firstlight.lab.inputs import Inputs
from firstlight.lab.options import RecordOptions
from firstlight.lab.repeat import recipe_for_manifest

#: Of a manifest's recipe what decides the boot; what else stands there are paths, whose content the digests name.
_DECIDING = (
    "architecture",
    "machine",
    "cpu",
    "memory",
    "command_line",
    "modules",
    "icount_shift",
    "rtc",
    "seed",
    "ready",
    "profile",
)
_CHOSEN = ("live", "timeout_virtual_s", "qemu_options")


def key_of_inputs(options: RecordOptions, inputs: Inputs) -> str:
    """The key of a boot that is yet to be recorded."""
    return _key(recipe_for_manifest(options, inputs, "tcg"), inputs.digests)


def key_of_boot(manifest: Manifest) -> str:
    """The key of a recorded boot: that of its inputs when it was recorded."""
    return _key(manifest.recipe, manifest.digests)


def _key(recipe: Mapping[str, JsonValue], digests: Mapping[str, str | None]) -> str:
    chosen = recipe.get("chosen")
    known = {
        "schema": SCHEMA_VERSION,
        "recipe": {name: recipe.get(name) for name in _DECIDING},
        "chosen": {name: chosen.get(name) for name in _CHOSEN} if isinstance(chosen, dict) else {},
        "digests": dict(digests),
    }
    return digest_of(json.dumps(known, sort_keys=True))
