"""The noise band of a boot that comes with no band of its own: calibrated before, or shipped."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from firstlight.atomic import atomic_write
from firstlight.bundle.boot import Boot
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.manifest import Manifest
from firstlight.cache import cache_dir
from firstlight.comparison.exact.ledger import Tolerance
from firstlight.comparison.noise_band import Band

#: Equivalent boots of Linux 6.12 spread over 14 times the band that was measured with Linux 6.1.
_OTHER_SERIES_TIMES = 15


@dataclass(frozen=True)
class KnownBand:
    """A noise band and where it comes from."""

    band: Band
    source: str
    """One sentence for users."""
    calibrated: bool
    """Whether it was measured on the recipe of the boot; else it is the shipped one."""
    is_of_kernel: bool = True
    """Whether it was measured on the kernel of the boot."""
    is_of_series: bool = True
    """Whether that kernel is of the same series as the boot's, such as 6.1; true where the boot's is not known."""

    @property
    def total_ns(self) -> int:
        """How far the time of the entire boot changes by itself."""
        return self.band.virtual_ns.width

    def covers(self, change_ns: Fraction | int) -> bool:
        """Whether a change of the entire boot is an accident: no larger than the band, and not 0."""
        return change_ns != 0 and -self.total_ns <= change_ns <= self.total_ns

    @property
    def doubt_ns(self) -> int:
        """A change up to this may be an accident, because the band is of another series of kernels; else 0."""
        return 0 if self.is_of_series else self.total_ns * _OTHER_SERIES_TIMES

    @property
    def text(self) -> str:
        """The width and the source, in one sentence for users."""
        return f"noise band: {self.total_ns:,} ns ({self.source})"

    @property
    def tolerance(self) -> Tolerance:
        """How much figures change by themselves, with the source."""
        return replace(self.band.tolerance, source=self.source, is_of_kernel=self.is_of_kernel, doubt_ns=self.doubt_ns)


def band_for(boot: Boot) -> KnownBand:
    """The noise band for an exact boot: the one of its recipe if `firstlight calibrate` made one, else a shipped one.

    The shipped bands were measured on the minimal guest and, for boots with a root file system, on Debian; both with
    the distribution's cloud kernel.

    >>> band_for(firstlight.open(bundle)).calibrated
    False
    """
    manifest = boot.manifest
    return band_of_recipe(
        key_of_boot(manifest), has_rootfs=manifest.recipe_text("rootfs") is not None,
        kernel=manifest.digests.get("kernel"), release=boot.fact_values().get("kernel.release"),
    )  # fmt: skip


def band_of_recipe(
    key: str | None, *, has_rootfs: bool, kernel: str | None = None, release: str | None = None
) -> KnownBand:
    """The same as :func:`band_for` of a boot of which only this is known.

    :param key: the digest of its recipe and inputs; none where it is unknown.
    :param has_rootfs: whether it boots a root file system.
    :param kernel: the digest of its kernel; none where it is unknown.
    :param release: the release of its kernel; none where it is unknown.

    >>> band_of_recipe(None, has_rootfs=True).source.partition(";")[0]
    'shipped, for Debian'
    >>> band_of_recipe(None, has_rootfs=False, release="4.19.1").source.partition(";")[0]
    'shipped, for the minimal guest with Linux 6.1, which is another series of kernels'
    """
    calibrated = None if key is None else _calibrated(key)
    if calibrated is not None:
        return KnownBand(calibrated, f"calibrated on this recipe, {len(calibrated.boots)} boots", True)
    names, guest = (("debian",), "Debian") if has_rootfs else (("minimal", "minimal-6.12"), "the minimal guest")
    bands = [_shipped(name) for name in names]
    same = next((band for band in bands if kernel is not None and band.kernel == kernel), None)
    wanted = series(release)
    alike = next((band for band in bands if wanted is not None and series(band.release) == wanted), None)
    band = same or alike or bands[0]
    other = wanted is not None and same is None and alike is None
    than = f" with Linux {series(band.release)}, which is another series of kernels" if other else ""
    text = f"shipped, for {guest}{than}; `firstlight calibrate` makes one for this recipe"
    return KnownBand(band, text, False, is_of_kernel=same is not None, is_of_series=not other)


def series(release: str | None) -> str | None:
    """The series of a kernel's release.

    >>> series("6.12.118+deb13-cloud-amd64"), series("next-20261101")
    ('6.12', None)
    """
    found = re.match(r"\d+\.\d+", release or "")
    return None if found is None else found.group()


def given(band: Band, manifest: Manifest, where: str) -> KnownBand:
    """A band that the user names.

    :raises CompareError: when it is of another kernel.
    """
    caution = band.check(manifest, where)
    return KnownBand(band, caution or f"of `{band.boot}`, {len(band.boots)} boots", caution is None)


def store(band: Band) -> None:
    """Store a band for all later comparisons with its recipe. A cache that cannot be written is not an error."""
    try:
        place = _place(band.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(place, force=True) as written:
            written.write_text(band.model_dump_json(), encoding="utf-8")
    except OSError:
        return


def _place(key: str) -> Path:
    return cache_dir() / "bands" / f"{key}.json"


def _calibrated(key: str) -> Band | None:
    try:
        band = Band.model_validate_json(_place(key).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError):
        return None
    return band if band.key == key else None


@cache
def _shipped(name: str) -> Band:
    text = files("firstlight.comparison").joinpath("bands", f"{name}.json").read_text(encoding="utf-8")
    return Band.model_validate_json(text)
