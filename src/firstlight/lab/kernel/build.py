"""Building the lab's kernel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from importlib import resources
from pathlib import Path, PurePosixPath

from firstlight.cache import cache_dir, digest_of, entry, place
from firstlight.errors import LabError
from firstlight.lab.host.package_manager import require_packages
from firstlight.lab.host.process import ended_with_us, interruptible
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.kconfig import overruled, settings
from firstlight.lab.kernel.source import has_source, source_digest, unpack_source
from firstlight.processors import usable_processors
from firstlight.recipe.isa import DEFAULT

_KIND = "images"
_SAY_EVERY_S = 1.0
_SHOWN = 6
#: What building takes beside the compiler, and the Debian package that has it.
_TOOLS = {
    "make": "make", "gcc": "gcc", "ld": "binutils", "flex": "flex", "bison": "bison", "bc": "bc", "perl": "perl",
    "lz4": "lz4", "depmod": "kmod",
}  # fmt: skip
_HEADERS = {"/usr/include/gelf.h": "libelf-dev", "/usr/include/openssl/opensslv.h": "libssl-dev"}
#: So that the same source, fragment and compiler give the same bytes.
_REPEATABLE = {
    "KBUILD_BUILD_TIMESTAMP": "2024-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "firstlight",
    "KBUILD_BUILD_HOST": "firstlight",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}


def fragment() -> str:
    """The configuration that the kernel is made from."""
    return resources.files("firstlight.lab.kernel").joinpath("kernel.config").read_text(encoding="utf-8")


def kernel_place() -> Path | None:
    """Where the kernel is, once it was built; nothing when not even its source is there."""
    if not has_source():
        return None
    return _kernel_in(place(_KIND, _digest()))


def build_kernel(progress: Progress, jobs: int | None = None) -> Path:
    """The kernel, from the cache; the first time it is built, which takes many minutes.

    Beside it lie its configuration, its symbols and the few parts that are modules, as a distribution lays them out.

    :param jobs: compilers at a time; one for each core when it is not given.
    :raises LabError: when a tool or the source is missing, the configuration does not take the fragment, or the build
        fails: with the last lines, and where the whole log is.
    """
    check_tools()
    with interruptible():
        kept = entry(_KIND, _digest(), lambda folder: _build(folder, progress, jobs or usable_processors()))
    kernel = _kernel_in(kept)
    if kernel is None:
        raise LabError(
            "the image holds no kernel", where=str(kept), hint="`firstlight image remove kernel`, and build it"
        )
    return kernel


def _digest() -> str:
    return digest_of("kernel", fragment(), source_digest(), compiler_version())


def compiler_version() -> str:
    """What `gcc` says of itself: another compiler makes another kernel."""
    try:
        run = subprocess.run(["gcc", "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError:
        return ""
    return run.stdout.partition("\n")[0]


def _kernel_in(folder: Path) -> Path | None:
    return next(iter(sorted((folder / "boot").glob("vmlinuz-*"))), None)


def check_tools() -> None:
    """Check that all is there that builds a kernel.

    :raises LabError: naming the packages that are missing.
    """
    missing = [package for tool, package in _TOOLS.items() if shutil.which(tool, path=_path()) is None]
    missing += [package for header, package in _HEADERS.items() if not _has_header(header)]
    require_packages("build a kernel", missing)


def _path() -> str:
    # depmod lives where the user's PATH often does not reach.
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def _has_header(path: str) -> bool:
    # Debian keeps some headers below the architecture's own directory.
    given = Path(path)
    return given.is_file() or any(Path("/usr/include").glob(f"*-linux-gnu/{given.relative_to('/usr/include')}"))


def _build(folder: Path, progress: Progress, jobs: int) -> None:
    log = cache_dir() / _KIND / "kernel.build.log"
    with log.open("wb"):
        pass
    progress.note(f"the kernel is built once, which takes many minutes; the log is {log}")
    progress.step("unpacking the kernel's source")
    work = folder / "work"
    work.mkdir()
    tree, objects = unpack_source(work), work / "objects"
    objects.mkdir()
    wanted = work / "fragment.config"
    wanted.write_text(fragment(), encoding="utf-8")
    make = make_command(objects, jobs)
    progress.step("configuring the kernel")
    run_make([*make, "allnoconfig"], tree, log, {"KCONFIG_ALLCONFIG": str(wanted)})
    lost = overruled((objects / ".config").read_text(encoding="utf-8"), settings(fragment()))
    if lost:
        name, value, now = lost[0]
        raise LabError(
            f"the configuration has `{name}={now}`, the fragment says `{value}`, and {len(lost) - 1} more like that",
            where=str(log), hint="this source is another than the fragment was written for",
        )  # fmt: skip
    make_and_place(make, tree, objects, folder, log, progress)
    shutil.rmtree(work)


def make_command(objects: Path, jobs: int) -> list[str]:
    """The command that builds into a folder, without its targets; with `ccache` where that is installed."""
    # Told to end when we are killed, make ends its compilers.
    make = [*ended_with_us("TERM"), "make", f"O={objects}", f"-j{jobs}"]
    return make if shutil.which("ccache") is None else [*make, "CC=ccache gcc"]


def make_and_place(make: list[str], tree: Path, objects: Path, folder: Path, log: Path, progress: Progress) -> None:
    """Build what is configured, and lay it out as a distribution does: `boot` and `lib/modules`.

    :raises LabError: when the build fails.
    """
    has_modules = "CONFIG_MODULES=y" in (objects / ".config").read_text(encoding="utf-8").splitlines()
    # A kernel that loads no modules has no such targets.
    compile_kernel(
        [*make, PurePosixPath(DEFAULT.kernel_image).name, *(["modules"] if has_modules else [])], tree, log, progress
    )
    progress.step("putting the kernel in its place")
    release = (objects / "include/config/kernel.release").read_text(encoding="utf-8").strip()
    if has_modules:
        run_make([*make, f"INSTALL_MOD_PATH={folder}", "INSTALL_MOD_STRIP=1", "modules_install"], tree, log, {})
    for link in ("build", "source"):
        (folder / "lib/modules" / release / link).unlink(missing_ok=True)
    boot = folder / "boot"
    boot.mkdir()
    for made, name in ((DEFAULT.kernel_image, "vmlinuz"), (".config", "config"), ("System.map", "System.map")):
        shutil.copyfile(objects / made, boot / f"{name}-{release}")


def _environment(tree: Path) -> dict[str, str]:
    # Paths hold the digest of the fragment: without this `ccache` would find nothing after any change of it.
    ccache = {"CCACHE_BASEDIR": str(tree.parent), "CCACHE_NOHASHDIR": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KBUILD_", "KCONFIG_", "MAKE"))}
    return {**kept, **ccache, **_REPEATABLE, "PATH": _path()}


def run_make(command: list[str], tree: Path, log: Path, more: dict[str, str]) -> None:
    """Run a target of the kernel's Makefile; its output is added to a log.

    :param more: variables of the environment.
    :raises LabError: when it fails.
    """
    with log.open("ab") as output:
        run = subprocess.run(
            command, cwd=tree, env={**_environment(tree), **more}, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
    if run.returncode != 0:
        raise _failed(command, log)


def compile_kernel(command: list[str], tree: Path, log: Path, progress: Progress) -> None:
    """Run the long part, and say how far it has come by what it has written."""
    begun = said = time.monotonic()
    with log.open("ab") as output:
        started = output.tell()
        process = subprocess.Popen(
            command, cwd=tree, env=_environment(tree), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while process.poll() is None:
                time.sleep(0.1)
                if (now := time.monotonic()) - said >= _SAY_EVERY_S:
                    said = now
                    progress.step(f"building the kernel: {_compiled(log, started):,} files, {now - begun:.0f} s")
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode != 0:
        raise _failed(command, log)


def _compiled(log: Path, started: int) -> int:
    with log.open("rb") as file:
        file.seek(started)
        return len(re.findall(rb"^ +(?:CC|AS) ", file.read(), re.MULTILINE))


def _failed(command: list[str], log: Path) -> LabError:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    # What went wrong stands before make's own lines about it; several compilers write at a time.
    telling = [line for line in lines if re.search(r"\berror\b|fatal|Error |No such|not found", line, re.IGNORECASE)]
    last = (telling or lines)[-_SHOWN:]
    return LabError(
        f"`make {command[-1]}` failed:\n" + "\n".join(line.strip() for line in last),
        where=str(log),
        hint="this file has the complete log",
    )
