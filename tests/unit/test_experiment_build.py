"""A kernel is built by the plan's own command, once, and only counts when it took the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.cache import NotCachedError, only_cached
from firstlight.errors import LabError
from firstlight.experiment.change import Kconfig
from firstlight.experiment.kernel_build import kernel_for
from firstlight.experiment.plan import Build
from firstlight.experiment.plan_parser import PlanError
from firstlight.lab.host.progress import SilentProgress

FRAGMENT = Kconfig(text="CONFIG_LEGACY_PTYS=n\nCONFIG_SMP=y\n")


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of sources, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "linux").mkdir()
    (tmp_path / "linux/Makefile").write_text("VERSION = 6\n")
    return tmp_path / "linux"


def build(tmp_path: Path, command: str, fragment: Kconfig = FRAGMENT) -> Path:
    """Build with a command."""
    how = Build(command=command, tree="linux")
    return kernel_for(fragment, how, tmp_path, SilentProgress())


def test_the_command_finds_fragment_and_output_and_runs_once(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f'echo >>{tmp_path}/log; cat Makefile "$FIRSTLIGHT_FRAGMENT" >"$FIRSTLIGHT_OUTPUT/bzImage"'
    with only_cached(), pytest.raises(NotCachedError):
        build(tmp_path, command)
    kernel = build(tmp_path, command)
    assert kernel.read_text() == "VERSION = 6\nCONFIG_LEGACY_PTYS=n\nCONFIG_SMP=y\n"
    with only_cached():
        assert build(tmp_path, command) == kernel
    assert (tmp_path / "log").read_text() == "\n"
    (tree / "Makefile").write_text("VERSION = 7\n")
    assert build(tmp_path, command) != kernel


def test_an_option_that_a_dependency_overruled_is_an_error(tmp_path: Path) -> None:
    taken = "# CONFIG_LEGACY_PTYS is not set\\nCONFIG_SMP=y\\n"
    command = 'printf "{}" >"$FIRSTLIGHT_OUTPUT/.config"; touch "$FIRSTLIGHT_OUTPUT/bzImage"'
    assert build(tmp_path, command.format(taken)).is_file()
    with pytest.raises(LabError, match="`CONFIG_LEGACY_PTYS=y`, the fragment says `n`"):
        build(tmp_path, command.format(taken.replace("# CONFIG_LEGACY_PTYS is not set", "CONFIG_LEGACY_PTYS=y")))


def test_a_build_that_fails_says_its_last_words_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="ended with 3: no compiler"):
        build(tmp_path, "echo no compiler >&2; exit 3")
    with pytest.raises(LabError, match="left no `bzImage`"):
        build(tmp_path, "true")
    with pytest.raises(LabError, match="longer than"):
        kernel_for(FRAGMENT, Build(command="sleep 9", tree="linux", timeout=0.1), tmp_path, SilentProgress())


def test_what_cannot_be_built_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"the plan has no `\[build\]`") as caught:
        kernel_for(FRAGMENT, None, tmp_path, SilentProgress())
    assert "[build]" in str(caught.value.hint)
    with pytest.raises(LabError, match="no such kernel tree"):
        kernel_for(FRAGMENT, Build(command="true", tree="none"), tmp_path, SilentProgress())
    with pytest.raises(LabError, match="cannot read the fragment"):
        build(tmp_path, "true", Kconfig(file="none.config"))
    with pytest.raises(LabError, match="sets nothing"):
        build(tmp_path, "true", Kconfig(text="# nothing\n"))
