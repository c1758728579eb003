"""Building a kernel for a fragment of configuration, by the plan's own command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from firstlight.cache import digest_of, entry
from firstlight.errors import MISSING_INPUT, LabError
from firstlight.experiment.change import Kconfig
from firstlight.experiment.plan import Build
from firstlight.experiment.plan_parser import PlanError
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.kconfig import overruled, settings
from firstlight.lab.rootfs.tree import tree_digest

_LOG = "build.log"
_FRAGMENT = "fragment.config"


def kernel_for(kconfig: Kconfig, build: Build | None, folder: Path, progress: Progress) -> Path:
    """The kernel that the plan's command builds with a fragment, or the one that it built before.

    The command finds in its environment `FIRSTLIGHT_FRAGMENT`, the file with the lines, and `FIRSTLIGHT_OUTPUT`, an
    empty directory to build into, where it has to leave the kernel and should leave `.config`.

    :param folder: where the plan is: its relative paths begin there.
    :raises PlanError: when the plan does not say how a kernel is built.
    :raises LabError: when the command fails, or the configuration did not take the fragment.
    """
    if build is None:
        raise PlanError(
            "a kernel configuration fragment needs a kernel build, but the plan has no `[build]`",
            hint="give `[build]` with `tree`, the kernel's source, and `command`; or build the kernels yourself and "
            'compare them with `kind = "kernel"`',
        )
    tree = folder / build.tree
    if not tree.is_dir():
        raise LabError("there is no such kernel tree", where=str(tree), exit_code=MISSING_INPUT)
    text = _text(kconfig, folder)
    wanted = settings(text)
    if not wanted:
        raise LabError("the fragment sets nothing", hint="write lines such as `CONFIG_LEGACY_PTYS=n`")
    progress.step("looking at the kernel tree")
    key = digest_of(text, build.command, build.output, state_of_tree(tree))

    def make(directory: Path) -> None:
        progress.step("building a kernel")
        _build(build, tree, text, directory)
        _check_taken(directory, wanted)

    made = entry("builds", key, make)
    kernel = made / build.output
    if not kernel.is_file():
        raise LabError(
            f"the build command left no `{build.output}`", where=str(made),
            hint="it must put the kernel into the directory in FIRSTLIGHT_OUTPUT",
        )  # fmt: skip
    return kernel


def _text(kconfig: Kconfig, folder: Path) -> str:
    if kconfig.text is not None:
        return kconfig.text
    path = folder / str(kconfig.file)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise LabError(f"cannot read the fragment: {reason}", where=str(path), exit_code=MISSING_INPUT) from error


def state_of_tree(tree: Path) -> str:
    """What identifies a tree: a clean working copy of git by its commit, anything else by its content."""
    git = ["git", "-C", str(tree)]
    run = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD:./"], **run)  # type: ignore[call-overload]
        status = subprocess.run([*git, "status", "--porcelain", "--", "."], **run)  # type: ignore[call-overload]
    except OSError:
        return tree_digest(tree)
    clean = head.returncode == 0 and status.returncode == 0 and not status.stdout.strip()
    return str(head.stdout).strip() if clean else tree_digest(tree)


def _build(build: Build, tree: Path, text: str, directory: Path) -> None:
    fragment = directory / _FRAGMENT
    fragment.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    environment = {**os.environ, "FIRSTLIGHT_FRAGMENT": str(fragment), "FIRSTLIGHT_OUTPUT": str(directory)}
    log = directory / _LOG
    with log.open("wb") as output:
        try:
            run = subprocess.run(
                ["/bin/sh", "-c", build.command],
                cwd=tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=build.timeout,
            )
        except subprocess.TimeoutExpired as error:
            raise LabError(f"the build took longer than {build.timeout:g} s", where=str(tree)) from error
    if run.returncode != 0:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
        said = ": " + " / ".join(last) if last else ""
        raise LabError(f"the build command ended with {run.returncode}{said}", where=str(tree))


def _check_taken(directory: Path, wanted: dict[str, str]) -> None:
    """A fragment that a dependency overrules leaves no error behind, only another configuration."""
    config = directory / ".config"
    if not config.is_file():
        return
    for name, value, now in overruled(config.read_text(encoding="utf-8", errors="replace"), wanted)[:1]:
        raise LabError(
            f"the built configuration has `{name}={now}`, the fragment says `{value}`",
            hint="an option that it depends on has another value: add that option to the fragment",
        )
