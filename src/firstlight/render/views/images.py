"""The lab's images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight.lab.images import Image
from firstlight.render.model.table import Column, Table, table


def images_table(images: Sequence[Image]) -> Table:
    """What there is, and what of it was made."""
    return table(
        "",
        [
            Column("Image", value="name", style="cyan"),
            Column("For", value="architecture", wide=50),
            Column("Made", value=lambda image: "no" if image.built() is None else "yes"),
            Column("Boot it with", value=lambda image: f"record {image.option}" if image.option else None, wide=60),
            Column("What it is", value="what", wide=80),
        ],
        images,
    )


def image_data(image: Image) -> dict[str, Any]:
    """An image for `--json`."""
    built = image.built()
    return {
        "name": image.name,
        "architecture": image.architecture,
        "kind": image.kind,
        "what": image.what,
        "option": image.option,
        "path": None if built is None else str(built),
        "bytes": None if built is None else built.stat().st_size,
    }
