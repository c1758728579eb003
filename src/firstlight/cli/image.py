"""`firstlight image`."""

from __future__ import annotations

from typing import Annotated

import typer

from firstlight.cli.help import command_group
from firstlight.cli.output import Json, print_json

app = command_group("Make the laboratory's kernel and user lands, once; recordings and studies boot them.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="An image, as `firstlight image list` names them.")]


@app.command("list")
def list_images(json: Json = False) -> None:
    """List the images: what each is, and whether it was made.

    \b
    Examples:
      firstlight image list
    """
    from firstlight.lab.images import IMAGES
    from firstlight.render.terminal.console import console
    from firstlight.render.views.images import image_data, print_images

    if json:
        print_json([image_data(image) for image in IMAGES])
    else:
        print_images(console(), IMAGES)


@app.command("build")
def build(
    name: Name,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", min=1, help="Compilers at a time (default: the cores).")
    ] = None,
    json: Json = False,
) -> None:
    """Make an image, if it is not there already, and print its path.

    The kernel is built from the distribution's own source, which is downloaded; that takes many minutes
    and fewer with `ccache`. What is made is kept in the cache by the digest of what it was made from.

    \b
    Examples:
      firstlight image build kernel
      firstlight record --kernel "$(firstlight image build kernel)" -o a.boot
      firstlight record --rootfs "$(firstlight image build debian-storage)" -o b.boot
    """
    from firstlight.lab.host.progress import progress_for
    from firstlight.lab.images import find_image
    from firstlight.render.views.images import image_data

    image = find_image(name)
    with progress_for() as progress:
        path = image.build(progress, jobs)
    if json:
        print_json(image_data(image))
    else:
        print(path)


@app.command("path")
def path(name: Name, json: Json = False) -> None:
    """Print where an image is; an error when it was not made, or is no longer what was made.

    \b
    Examples:
      firstlight record --kernel "$(firstlight image path kernel)" -o a.boot
    """
    from firstlight.cache import check_kept
    from firstlight.errors import MISSING_INPUT, LabError
    from firstlight.lab.images import find_image
    from firstlight.render.views.images import image_data

    image = find_image(name)
    built = image.built()
    if built is None:
        hint = f"make it: `firstlight image build {name}`"
        raise LabError(f"the image `{name}` was not made", hint=hint, exit_code=MISSING_INPUT)
    check_kept(built)
    if json:
        print_json(image_data(image))
    else:
        print(built)


@app.command("remove")
def remove(name: Name, json: Json = False) -> None:
    """Remove an image from the cache; it can be made again.

    \b
    Examples:
      firstlight image remove kernel
    """
    from firstlight.lab.images import find_image

    removed = find_image(name).remove()
    if json:
        print_json({"name": name, "removed": removed})
    else:
        print(f"{name}: removed" if removed else f"{name}: was not there")
