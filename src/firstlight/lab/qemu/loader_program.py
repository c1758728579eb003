"""The program file of the distribution's boot loader, with its symbols: built from the distribution's source.

The package has the loader without symbols. The same source, configuration and compiler give the same bytes, and that is
checked: only a program file of exactly the installed loader is taken.
"""

from __future__ import annotations

import platform
import re
import shutil
from pathlib import Path

from firstlight.cache import cache_dir, digest_of, entry, file_digest, place
from firstlight.errors import MISSING_INPUT, LabError
from firstlight.lab.host.apt import downloaded_source
from firstlight.lab.host.package_manager import require_packages
from firstlight.lab.host.process import ended_with_us, interruptible
from firstlight.lab.host.progress import Progress
from firstlight.lab.host.tools import failure_text, run_tool
from firstlight.lab.kernel.build import run_make
from firstlight.recipe.isa import Architecture, NamedLoader

_KIND = "loaders"
_NAME = "u-boot"
#: What building takes, and the Debian package that has it; the compiler is another one for each architecture.
_TOOLS = {"make": "make", "gcc": "gcc", "flex": "flex", "bison": "bison", "bc": "bc", "dpkg-source": "dpkg-dev",
          "dpkg-parsechangelog": "dpkg-dev"}  # fmt: skip
_OPENSSL = Path("/usr/include/openssl/opensslv.h")
_DEBIAN_PART = re.compile(r"\+dfsg.*")


def program_place(architecture: Architecture, loader: NamedLoader) -> Path | None:
    """Where the program file is, once it was built; nothing where the loader or the compiler is missing."""
    installed, compiler = Path(loader.file), _compiler(architecture)
    if not installed.is_file() or shutil.which(f"{compiler}gcc") is None:
        return None
    return place(_KIND, _digest(installed, compiler)) / _NAME


def build_program(architecture: Architecture, loader: NamedLoader, progress: Progress, jobs: int | None = None) -> Path:
    """The program file of the installed loader, from the cache; the first time it is built, in about a minute.

    :param jobs: compilers at a time.
    :raises LabError: when the loader, a tool or the source is missing, the build fails, or it gives another loader than
        the installed one.
    """
    installed, compiler = Path(loader.file), _compiler(architecture)
    if not installed.is_file():
        hint = f"install it with `apt-get install {loader.package}`"
        raise LabError(f"{loader.title} is not installed: there is no {installed}", hint=hint, exit_code=MISSING_INPUT)
    _check_tools(architecture, compiler)
    with interruptible():
        digest = _digest(installed, compiler)
        return entry(_KIND, digest, lambda folder: _build(folder, compiler, loader, progress, jobs or 2)) / _NAME


def _compiler(architecture: Architecture) -> str:
    """The first part of the names of its programs; none where the architecture is this machine's."""
    return "" if platform.machine() == architecture.name else f"{architecture.library_folder}-"


def _digest(installed: Path, compiler: str) -> str:
    version = run_tool([f"{compiler}gcc", "--version"]).stdout.partition("\n")[0]
    return digest_of("1", file_digest(installed), version)


def _check_tools(architecture: Architecture, compiler: str) -> None:
    cross = {f"{compiler}gcc": f"gcc-{architecture.library_folder.replace('_', '-')}" if compiler else "gcc"}
    missing = [package for tool, package in (_TOOLS | cross).items() if shutil.which(tool) is None]
    missing += [] if _OPENSSL.is_file() else ["libssl-dev"]
    require_packages("build a boot loader", missing)


def _build(folder: Path, compiler: str, loader: NamedLoader, progress: Progress, jobs: int) -> None:
    log = cache_dir() / _KIND / f"{loader.package}.build.log"
    log.write_bytes(b"")
    version = _answer(["dpkg-query", "--show", "--showformat=${source:Version}", loader.package])
    assert loader.source is not None
    assert loader.configuration is not None
    what = f"the source of {loader.title}"
    with downloaded_source(loader.source, version, what, "build it yourself, and give both files") as tree:
        progress.step(f"building {loader.title}")
        objects = folder / "objects"
        objects.mkdir()
        # As `debian/rules` of the package does it; both stand in the loader's banner.
        epoch = _answer(["dpkg-parsechangelog", "--show-field", "Timestamp"], tree)
        environment = {"SOURCE_DATE_EPOCH": epoch, "CROSS_COMPILE": compiler}
        make = [*ended_with_us("TERM"), "make", f"O={objects}", f"-j{jobs}"]
        run_make([*make, loader.configuration], tree, log, environment)
        _set_version(objects / ".config", version)
        run_make([*make, "u-boot.bin"], tree, log, environment)
    if (objects / "u-boot.bin").read_bytes() != Path(loader.file).read_bytes():
        raise LabError(
            f"the build differs from {loader.title} of the package `{loader.package}`, {version}",
            where=str(log),
            hint=f"it was not built with this `{compiler}gcc`: give your own loader with its program, "
            "`--loader u-boot.bin --loader-symbols u-boot`",
        )
    # Without the places of this build: the same file from every folder.
    strip = run_tool([f"{compiler}strip", "--strip-debug", "-o", str(folder / _NAME), str(objects / "u-boot")])
    if strip.returncode != 0:
        raise LabError(f"`{compiler}strip` failed: {failure_text(strip)}")
    shutil.rmtree(objects)


def _set_version(config: Path, version: str) -> None:
    found = _DEBIAN_PART.search(version)
    own = f'CONFIG_LOCALVERSION="{found[0] if found else ""}"'
    text = re.sub(r"^CONFIG_LOCALVERSION=.*$", own, config.read_text(encoding="utf-8"), flags=re.MULTILINE)
    config.write_text(text, encoding="utf-8")


def _answer(command: list[str], folder: Path | None = None) -> str:
    run = run_tool(command, folder=folder)
    if run.returncode != 0 or not run.stdout.strip():
        raise LabError(f"`{' '.join(command[:2])}` failed: {failure_text(run)}")
    return run.stdout.strip()
