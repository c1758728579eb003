"""The images by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from firstlight.errors import LabError
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.build import build_kernel, kernel_place
from firstlight.lab.rootfs.debian import debian_place, debian_tar
from firstlight.suggest import one_of

#: What the studies of storage need beside a small Debian.
_STORAGE = ("lvm2", "dmsetup", "xfsprogs", "strace")


@dataclass(frozen=True)
class Image:
    """Something that is made once, and booted often."""

    name: str
    kind: Literal["kernel", "root file system"]
    what: str
    """For people."""
    option: str
    """Of `firstlight record`, that takes its path."""
    place: Callable[[], Path | None]
    """Where it would be; nothing when that cannot be known without making it."""
    make: Callable[[Progress, int | None], Path]

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
        root = path.parent.parent if self.kind == "kernel" else path.parent
        shutil.rmtree(root)
        return True


def _debian(*more: str) -> tuple[Callable[[], Path], Callable[[Progress, int | None], Path]]:
    def make(_progress: Progress, _jobs: int | None) -> Path:
        return debian_tar(more)

    return (lambda: debian_place(more)), make


IMAGES = (
    Image(
        "kernel",
        "kernel",
        "the lab's kernel: legacy terminals, many file systems, disks in memory, tracers",
        "--kernel",
        kernel_place,
        build_kernel,
    ),
    Image("debian", "root file system", "a small Debian with systemd and udev", "--rootfs", *_debian()),
    Image(
        "debian-storage", "root file system", f"the same with {', '.join(_STORAGE)}", "--rootfs", *_debian(*_STORAGE)
    ),
)


def find_image(name: str) -> Image:
    """The image of a name.

    :raises LabError: when there is none; the hint says the nearest, and all.

    >>> find_image("kernel").option
    '--kernel'
    """
    for image in IMAGES:
        if image.name == name:
            return image
    raise LabError(f"there is no image `{name}`", hint=one_of(name, [image.name for image in IMAGES]), exit_code=2)
