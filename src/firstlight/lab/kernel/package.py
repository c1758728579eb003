"""The distribution's kernel package, unpacked without installing it."""

from __future__ import annotations

from pathlib import Path

from firstlight.lab.host.package_cache import Package, known_file, unpacked_file
from firstlight.recipe.isa import DEFAULT, Architecture

_KIND = "kernels"


def known_kernel(architecture: Architecture = DEFAULT) -> Path | None:
    """The path of the distribution's kernel in the cache; none where it was not downloaded yet."""
    return known_file(_KIND, architecture.kernel_package)


def unpacked_kernel(architecture: Architecture = DEFAULT) -> Path:
    """The path of the distribution's kernel in the cache.

    :param architecture: of the guest.
    :raises LabError: when there is no package client, no such package, or no way to download it.
    """
    package = Package(
        architecture.kernel_package,
        content="boot/vmlinu[xz]-*",
        what="the default kernel",
        instead="give a kernel yourself: `--kernel /boot/vmlinuz-RELEASE`",
        depended_on=r"linux-image-[a-z0-9.+-]+",
        architecture=None if architecture is DEFAULT else architecture.distribution_name,
        release=architecture.distribution_release,
    )
    return unpacked_file(_KIND, package)
