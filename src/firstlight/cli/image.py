"""`firstlight image`."""

from __future__ import annotations

from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import Json

app = command_group(
    "Build or download kernels, root file systems and symbols of boot loaders, for recordings and studies."
)

Arch = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Guest's processor architecture, as `image list` shows it (default: that of the first image there).",
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of an image from `firstlight image list`.")]


@app.command("list")
def list_images(
    arch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show only the images for this architecture of guests.")
    ] = None,
    json: Json = False,
) -> None:
    """List the images and whether each is built.

    \b
    Examples:
      firstlight image list
      firstlight image list --arch arm64
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.images import image_data, images_table

    if json:
        print_json([image_data(image) for image in api.images(arch)])
    else:
        print_report([images_table(api.images(arch))])


@app.command("build")
def build(
    name: Name,
    arch: Arch = None,
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", metavar="N", min=1, help="Number of parallel compilers (default: one per core)."),
    ] = None,
    json: Json = False,
) -> None:
    """Build an image unless it exists, and print its path.

    The kernel for amd64 is built from the distribution's source package, which is downloaded. This takes many minutes,
    fewer with `ccache`. For other architectures it is the distribution's kernel, which is downloaded. The cache stores
    each image by the digest of its inputs.

    \b
    Examples:
      firstlight image build kernel
      firstlight record --kernel "$(firstlight image build kernel)" -o a.boot
      firstlight record --rootfs "$(firstlight image build debian-storage)" -o b.boot
      firstlight record --arch arm64 --rootfs "$(firstlight image build debian --arch arm64)" -o c.boot
      firstlight record --arch arm64 --loader u-boot \\
        --loader-symbols "$(firstlight image build u-boot-symbols --arch arm64)" -o d.boot
    """
    from firstlight.render.views.images import image_data

    image = api.image(name, arch=arch, build=True, jobs=jobs, progress=True)
    if json:
        print_json(image_data(image))
    else:
        print(image.built())


@app.command("path")
def path(name: Name, arch: Arch = None, json: Json = False) -> None:
    """Print the path of an image. It is an error if the image is not built or was changed.

    \b
    Examples:
      firstlight record --kernel "$(firstlight image path kernel)" -o a.boot
    """
    from firstlight.render.views.images import image_data

    built = api.image_path(name, arch)
    if json:
        print_json(image_data(api.image(name, arch=arch)))
    else:
        print(built)


@app.command("remove")
def remove(name: Name, arch: Arch = None, json: Json = False) -> None:
    """Remove an image from the cache.

    \b
    Examples:
      firstlight image remove kernel
    """
    removed = api.image(name, arch=arch).remove()
    if json:
        print_json({"name": name, "removed": removed})
    else:
        print(f"{name}: removed" if removed else f"{name}: did not exist")
