"""The images by name and architecture."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from firstlight.cache import cache_dir
from firstlight.errors import LabError, UsageError
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.build import build_kernel, kernel_place
from firstlight.lab.kernel.package import known_kernel, unpacked_kernel
from firstlight.lab.qemu.loader_program import build_program, program_place
from firstlight.lab.rootfs.debian import debian_place, debian_tar, unpacked_place, unpacked_tar
from firstlight.recipe.isa import DEFAULT, Architecture, architecture_of, architectures, chosen_architecture
from firstlight.suggest import one_of

#: What the studies of storage need beside a small Debian.
_STORAGE = ("lvm2", "dmsetup", "xfsprogs", "strace")


@dataclass(frozen=True)
class Image:
    """Something that is made once, and booted often."""

    name: str
    kind: Literal["kernel", "root file system", "programs", "program of a boot loader"]
    what: str
    """For people."""
    option: str
    """Of `firstlight record`, that takes its path; empty for what studies take programs from."""
    place: Callable[[], Path | None]
    """Where it would be; nothing when that cannot be known without making it."""
    make: Callable[[Progress, int | None], Path]
    architecture: str = DEFAULT.distribution_name
    """Of the guest, as the distribution calls it."""

    def built(self) -> Path | None:
        """Its file, when it is there."""
        path = self.place()
        return path if path is not None and path.exists() else None

    def build(self, progress: Progress, jobs: int | None = None) -> Path:
        """Its file, made when it is not there.

        :param jobs: compilers at a time.
        :raises LabError: when it cannot be made.
        """
        return self.make(progress, jobs)

    def remove(self) -> bool:
        """Remove it from the cache; false when it was not there."""
        if (path := self.built()) is None:
            return False
        # An entry of the cache is a folder in the folder of its kind.
        shutil.rmtree(next(each for each in path.parents if each.parent.parent == cache_dir()))
        return True


def _debian(name: str, what: str, architecture: Architecture, *more: str) -> Image:
    def make(_progress: Progress, _jobs: int | None) -> Path:
        return debian_tar(more, architecture)

    def place() -> Path:
        return debian_place(more, architecture)

    return Image(name, "root file system", what, "--rootfs", place, make, architecture.distribution_name)


def _programs(architecture: Architecture) -> Image:
    return Image(
        "debian-programs",
        "programs",
        "the packages of debian-storage, unpacked but not configured: programs for the minimal guest",
        "",
        lambda: unpacked_place(_STORAGE, architecture),
        lambda _progress, _jobs: unpacked_tar(_STORAGE, architecture),
        architecture.distribution_name,
    )


def _debians(architecture: Architecture) -> tuple[Image, ...]:
    return (
        _debian("debian", "a small Debian with systemd and udev", architecture),
        _debian("debian-storage", f"the same with {', '.join(_STORAGE)}", architecture, *_STORAGE),
        _programs(architecture),
    )


def _distribution_kernel(architecture: Architecture) -> Image:
    def make(_progress: Progress, _jobs: int | None) -> Path:
        return unpacked_kernel(architecture)

    what = "the distribution's kernel with its modules, downloaded: the lab's kernel is only for "
    return Image(
        "kernel",
        "kernel",
        f"{what}{DEFAULT.distribution_name}",
        "--kernel",
        lambda: known_kernel(architecture),
        make,
        architecture.distribution_name,
    )


def _loader_program(architecture: Architecture, name: str) -> Image:
    loader = architecture.loaders[name]
    return Image(
        f"{name}-symbols",
        "program of a boot loader",
        f"the distribution's {loader.title} with its symbols, built from source and equal to package {loader.package}",
        "--loader-symbols",
        lambda: program_place(architecture, loader),
        lambda progress, jobs: build_program(architecture, loader, progress, jobs),
        architecture.distribution_name,
    )


def _of(architecture: Architecture) -> tuple[Image, ...]:
    if architecture.has_lab_kernel:
        what = "the lab's kernel: legacy terminals, many file systems, disks in memory, tracers"
        kernel = Image("kernel", "kernel", what, "--kernel", kernel_place, build_kernel)
    else:
        kernel = _distribution_kernel(architecture)
    programs = tuple(
        _loader_program(architecture, name) for name, each in architecture.loaders.items() if each.configuration
    )
    return (kernel, *(_debians(architecture) if architecture.has_root_images else ()), *programs)


def _first_the_default(architecture: Architecture) -> tuple[bool, str]:
    return architecture is not DEFAULT, architecture.distribution_name


IMAGES = tuple(
    image
    for architecture in sorted((architecture_of(name) for name in architectures()), key=_first_the_default)
    for image in _of(architecture)
)


def find_image(name: str, arch: str | None = None) -> Image:
    """The image of a name.

    :param arch: the guest's architecture, by default that of this kind of machine, `amd64`.
    :raises LabError: when there is none; the hint says the nearest, and all.
    :raises UsageError: for an unknown architecture, or one without this image.

    >>> find_image("kernel").option, find_image("debian", "arm64").architecture
    ('--kernel', 'arm64')
    """
    architecture = chosen_architecture(arch).distribution_name
    for image in IMAGES:
        if image.name == name and image.architecture == architecture:
            return image
    if others := [image.architecture for image in IMAGES if image.name == name]:
        raise UsageError(
            f"there is no image `{name}` for {architecture}",
            hint=f"there is one for {' and '.join(others)}: `--arch {others[0]}`",
        )
    names = [image.name for image in IMAGES if image.architecture == architecture]
    raise LabError(f"there is no image `{name}`", hint=one_of(name, names), exit_code=2)
