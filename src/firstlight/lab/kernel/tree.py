"""A kernel's source that many configurations are built from: unpacked once, its objects kept between builds."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from firstlight.cache import cache_dir, digest_of, entry, require_making
from firstlight.errors import MISSING_INPUT, LabError
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.build import check_tools, compiler_version, make_and_place, make_command, run_make
from firstlight.lab.kernel.kconfig import as_lines, options
from firstlight.lab.kernel.source import source_digest, unpack_source
from firstlight.processors import usable_processors

_KIND = "kernel-trees"
_BUILDS = "builds"
_ALSO_RUNNING = 10
"""How much a build gives way to other programs: `nice -n`."""


class KernelTree:
    """Configures and builds kernels from one source, one after the other; what was built once is kept."""

    def __init__(self, source: Path | None, state: str | None, progress: Progress, jobs: int | None = None) -> None:
        """Nothing is unpacked yet.

        :param source: a kernel's source of the user's; none for that of the distribution's kernel.
        :param state: what identifies the user's source.
        :param jobs: compilers at a time; one for each core when it is not given.
        :raises LabError: when there is no such source, or that of the distribution cannot be had.
        """
        if source is not None and not (source / "Kconfig").is_file():
            raise LabError(
                "there is no source of a kernel here", where=str(source), exit_code=MISSING_INPUT,
                hint="give the root of its tree, or leave it out for the source of the distribution's kernel",
            )  # fmt: skip
        self._source = source
        self.state = source_digest() if source is None or state is None else state
        self._progress = progress
        self._jobs = jobs or usable_processors()
        self._folder = cache_dir() / _KIND / digest_of(self.state)

    def root(self) -> Path:
        """The root of the source; the first time the distribution's is unpacked.

        :raises LabError: when it cannot be.
        """
        if self._source is not None:
            return self._source
        place = self._folder / "source"
        if not place.is_dir():
            require_making("the kernel's source")
            self._progress.step("unpacking the kernel's source")
            making = self._folder / "making"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir(parents=True)
            unpack_source(making).rename(place)
            making.rmdir()
        return place

    def configure(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """What the source's own rules make of settings: what is not named is off, or at the default of a choice.

        :param wanted: values by the names of options, without `CONFIG_`.
        :returns: all of the configuration, `n` for what is not set.
        :raises LabError: when the rules cannot be read.
        """
        with self._alone() as (make, root, objects, log):
            self._progress.step("configuring a kernel")
            fragment = objects / "wanted.config"
            fragment.write_text(as_lines(wanted), encoding="utf-8")
            run_make([*make, "allnoconfig"], root, log, {"KCONFIG_ALLCONFIG": str(fragment)})
            return options((objects / ".config").read_text(encoding="utf-8"))

    def build(self, config: Mapping[str, str]) -> Path:
        """The kernel of a configuration, built or from the cache, with its configuration and symbols beside it.

        :param config: as :meth:`configure` returned it.
        :raises LabError: when a tool is missing, or the build fails: with the last lines, and where the whole log is.
        """
        text = as_lines(config)
        key = digest_of("configured", text, self.state, compiler_version())

        def make_it(folder: Path) -> None:
            check_tools()
            with self._alone() as (make, root, objects, log):
                (objects / ".config").write_text(text, encoding="utf-8")
                run_make([*make, "olddefconfig"], root, log, {})
                make_and_place(make, root, objects, folder, log, self._progress)

        with interruptible():
            made = entry(_BUILDS, key, make_it)
        return next(iter(sorted((made / "boot").glob("vmlinuz-*"))))

    @contextmanager
    def _alone(self) -> Iterator[tuple[list[str], Path, Path, Path]]:
        """The command of make, the source, the folder of objects and the log, for one user at a time."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            root, objects = self.root(), self._folder / "objects"
            objects.mkdir(exist_ok=True)
            nice = [] if shutil.which("nice") is None else ["nice", "-n", str(_ALSO_RUNNING)]
            yield [*nice, *make_command(objects, self._jobs)], root, objects, self._folder / "build.log"
