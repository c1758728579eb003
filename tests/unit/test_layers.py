"""The layers of the architecture: Python packages by import-linter, Rust crates by their manifests."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rust_modules import cycles, graph

ROOT = Path(__file__).parents[2]

#: From bottom to top. A crate may depend on crates of earlier groups only.
CRATES = (
    {"isa", "qemu", "restat", "schema"},
    {"elf", "formats", "guest", "oracle", "profile", "storage", "walk"},
    {"model", "plugin"},
    {"export", "merge"},
    {"python"},
)


def lint(config: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of a file; 0 is a kept, 1 a broken one."""
    words = [str(Path(sys.executable).with_name("lint-imports")), "--config", str(config), "--no-cache", "--no-logo"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_module_imports_only_from_the_layers_below_it() -> None:
    done = lint(ROOT / "pyproject.toml")
    assert (done.returncode, "0 broken" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("kept", "broken", "says"),
    [
        (
            '    "bundle",\n    "recipe",\n',
            '    "recipe",\n    "bundle",\n',
            "firstlight.bundle is not allowed to import firstlight.recipe",
        ),
        ('    "history",\n', "", "firstlight.history"),
    ],
    ids=["a layer above one that imports it", "a package in no layer"],
)
def test_a_broken_layer_is_reported(tmp_path: Path, kept: str, broken: str, says: str) -> None:
    text = (ROOT / "pyproject.toml").read_text().replace('"gate | history | advise"', '"gate | advise",\n    "history"')
    assert kept in text
    config = tmp_path / "pyproject.toml"
    config.write_text(text.replace(kept, broken))
    done = lint(config)
    assert done.returncode == 1
    assert says in " ".join(done.stdout.split())


def dependencies(crate: str) -> set[str]:
    """The crates of this project that a crate depends on."""
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    return {name.removeprefix("firstlight-") for name in manifest["dependencies"] if name.startswith("firstlight-")}


def test_every_crate_depends_only_on_crates_below_it() -> None:
    crates = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    assert crates == set().union(*CRATES)
    below: set[str] = set()
    for group in CRATES:
        for crate in group:
            assert dependencies(crate) <= below, crate
        below |= group


def test_no_two_files_of_a_crate_name_one_another_in_a_circle() -> None:
    crates = sorted(path.parent for path in ROOT.glob("crates/*/src"))
    found = [(crate.name, circle) for crate in crates for circle in cycles(graph(crate / "src"))]
    # The state of `Boots` is in the module, its cases in the submodules.
    assert [circle for circle in found if "kernel_log/boots.rs" not in circle[1]] == []


@pytest.mark.parametrize(
    ("texts", "circle"),
    [
        (["use crate::b::{self, two};", "use super::a::one;", ""], {"a.rs", "b.rs"}),
        (["fn f() { crate::b::two() }", "use crate::c::three;", "use crate::{a, Error};"], {"a.rs", "b.rs", "c.rs"}),
        (["use crate::b::two;", "// use crate::a::one;", 'const A: &str = "crate::a::one";'], None),
        (["use crate::Two;", "use crate::c::three;", "use crate::a::one;"], {"a.rs", "b.rs", "c.rs"}),
        (["use crate::b::two;", "#[cfg(test)]\nmod tests {\n    use crate::a::one;\n}", ""], None),
    ],
    ids=["two", "three, one by a path", "a comment and a text", "by a name that is passed on", "a test"],
)
def test_a_planted_circle_is_found(tmp_path: Path, texts: list[str], circle: set[str] | None) -> None:
    for name, text in zip("abc", texts, strict=True):
        (tmp_path / f"{name}.rs").write_text(text)
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\nmod c;\npub use b::Two;\npub struct Error;\n")
    assert cycles(graph(tmp_path)) == ([circle] if circle else [])


def test_a_module_and_its_submodule_are_a_circle_if_each_names_the_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "lib.rs").write_text("mod a;\n")
    (tmp_path / "a.rs").write_text("mod part;\nuse part::two;\nfn one() {}\n")
    (tmp_path / "a" / "part.rs").write_text("fn two() {}\n")
    assert cycles(graph(tmp_path)) == []
    (tmp_path / "a" / "part.rs").write_text("use super::one;\nfn two() {}\n")
    assert cycles(graph(tmp_path)) == [{"a.rs", "a/part.rs"}]


def test_the_architecture_names_every_layer_and_crate() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    packages = {path.parent.name for path in ROOT.glob("src/firstlight/*/__init__.py")}
    modules = {path.stem for path in ROOT.glob("src/firstlight/*.py") if not path.stem.startswith("__")}
    crates = {f"crates/{path.parent.name}" for path in ROOT.glob("crates/*/Cargo.toml")}
    assert {name for name in packages | modules | crates if f"`{name}`" not in text} == set()
