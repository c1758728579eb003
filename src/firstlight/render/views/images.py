"""The laboratory's images in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from firstlight.lab.images import Image
from firstlight.render.terminal.columns import Column, print_table


def print_images(out: Console, images: Sequence[Image]) -> None:
    """Print what there is, and what of it was made."""
    columns = [
        Column("Image", style="cyan"),
        Column("Made"),
        Column("Boot it by", wide=60),
        Column("What it is", wide=80),
    ]
    rows = [
        [image.name, "yes" if image.built() is not None else "no", f"record {image.option}", image.what]
        for image in images
    ]
    print_table(out, columns, rows)


def image_data(image: Image) -> dict[str, Any]:
    """An image for `--json`."""
    built = image.built()
    return {
        "name": image.name,
        "kind": image.kind,
        "what": image.what,
        "option": image.option,
        "path": None if built is None else str(built),
        "bytes": None if built is None else built.stat().st_size,
    }
