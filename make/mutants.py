"""Change the code in small ways and print the changes that no test notices: `make mutants`.

Rust is mutated by cargo-mutants, Python by mutmut, in copies: the checkout stays as it is. Mutated are the files that
differ from a base. A change that was argued, in `make/mutants.toml`, is passed over; one of mere words is only counted.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARGUED = ROOT / "make/mutants.toml"
SCRATCH = ROOT / ".build/mutants"
CARGO_MUTANTS = "27.1.0"


@dataclass(frozen=True)
class Survivor:
    """A change of the code that every test passed with."""

    file: str
    line: int | None
    change: str
    """What was changed, without the place: it stays the same when lines above it come or go."""

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}\n    {self.change}"


def main() -> int:
    """Mutate, print the survivors; 1 when there are some that nobody argued, 2 when there is no run at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="", help="what the files are compared with; default: where main was left")
    parser.add_argument("--tests", default="tests/unit", help="the tests of Python that may notice")
    parser.add_argument("files", nargs="*", help="mutate these instead of the files that differ")
    arguments = parser.parse_args()
    try:
        files = arguments.files or changed(arguments.base or left_main_at())
    except subprocess.CalledProcessError as error:
        print(f"error: git: {error.stderr.strip()}\nhint: name a base: `make mutants BASE=COMMIT`", file=sys.stderr)
        return 2
    rust = [file for file in files if re.fullmatch(r"crates/\w+/src/.*\.rs", file) and not file.endswith("tests.rs")]
    python = [file for file in files if re.fullmatch(r"src/firstlight(_studies)?/.*\.py", file)]
    print(f"{len(rust)} files of Rust and {len(python)} of Python are mutated", file=sys.stderr)
    survivors = [*(of_rust(rust) if rust else ()), *(of_python(python, arguments.tests.split()) if python else ())]
    return report(survivors, argued())


def left_main_at() -> str:
    """The commit at which this branch left main."""
    return git("merge-base", "HEAD", "main").strip()


def changed(base: str) -> list[str]:
    """The files that differ from a commit, and are still there; also those that are not committed yet."""
    names = git("diff", "--name-only", "--diff-filter=d", base).splitlines()
    return sorted({*names, *git("ls-files", "--others", "--exclude-standard").splitlines()})


def git(*words: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def of_rust(files: Sequence[str]) -> list[Survivor]:
    """What survives of the mutants of cargo-mutants, which tests the crate of each file."""
    program = SCRATCH / "bin/cargo-mutants"
    if not program.exists():
        install = ["cargo", "install", "cargo-mutants", "--locked", "--quiet", "--version", CARGO_MUTANTS]
        subprocess.run([*install, "--root", str(SCRATCH)], check=True)
    copy = SCRATCH / "rust"
    copy_tree(copy)
    words = [word for file in files for word in ("--file", file)]
    command = [
        str(program),
        "mutants",
        *words,
        "--in-place",
        "--no-shuffle",
        "--colors=never",
        "--output",
        str(SCRATCH),
    ]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(SCRATCH / "target")}
    done = subprocess.run(command, cwd=copy, env=environment, stdout=sys.stderr)
    if done.returncode not in (0, 2, 3):  # 2: some were missed, 3: some timed out, which is noticed
        raise SystemExit(f"error: cargo-mutants ended with exit code {done.returncode}")
    found = []
    for line in (SCRATCH / "mutants.out/missed.txt").read_text(encoding="utf-8").splitlines():
        place, change = re.fullmatch(r"(\S+?:\d+):\d+: (.*)", line).groups()  # type: ignore[union-attr]
        file, _, number = place.rpartition(":")
        found.append(Survivor(file, int(number), change))
    return found


def of_python(files: Sequence[str], tests: Sequence[str]) -> list[Survivor]:
    """What survives of the mutants of mutmut, which knows for each function the tests that call it."""
    copy = SCRATCH / "python"
    copy_tree(copy)
    table = f"only_mutate = {toml_list(files)}\npytest_add_cli_args_test_selection = {toml_list(tests)}\n"
    project = (copy / "pyproject.toml").read_text(encoding="utf-8")
    project = project.replace("[tool.mutmut]\n", f"[tool.mutmut]\n{table}")
    (copy / "pyproject.toml").write_text(project, encoding="utf-8")
    # What tests start by themselves finds the package as it is, not the mutants.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(["mutmut", "run"], cwd=copy, env=environment, check=True, stdout=sys.stderr)
    listed = subprocess.run(["mutmut", "results"], cwd=copy, check=True, capture_output=True, text=True).stdout
    names = [name.strip() for name, _, state in (line.partition(": ") for line in listed.splitlines())
             if state.strip() == "survived"]  # fmt: skip
    return [shown(copy, name) for name in names]


def copy_tree(copy: Path) -> None:
    """Copy what git knows, as it stands, and what is built into the package."""
    shutil.rmtree(copy, ignore_errors=True)
    listed = git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    built = [str(path.relative_to(ROOT)) for path in ROOT.glob("src/firstlight/*.so")]
    built += [str(path.relative_to(ROOT)) for path in ROOT.glob("src/firstlight/assets/*")]
    for name in (*listed, *built):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)


def toml_list(words: Iterable[str]) -> str:
    """A list of texts as TOML writes it."""
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def shown(copy: Path, name: str) -> Survivor:
    """A survivor of mutmut by its difference."""
    text = subprocess.run(["mutmut", "show", name], cwd=copy, check=True, capture_output=True, text=True).stdout
    lines = text.splitlines()
    file = next(line[4:] for line in lines if line.startswith("--- "))
    before, after = (" ".join(line[1:].strip() for line in lines if line.startswith(sign) and line[:3] != sign * 3)
                     for sign in "-+")  # fmt: skip
    function = name.rpartition(".")[2].rpartition("__mutmut_")[0].removeprefix("x_")
    return Survivor(file, None, f"in {function}: {before}  ->  {after}")


def is_of_words(survivor: Survivor) -> bool:
    """Whether a change is one of texts alone, such as the words of a message.

    >>> is_of_words(Survivor("a.py", None, 'in f: x("a")  ->  x("XXaXX")'))
    True
    >>> is_of_words(Survivor("a.py", None, 'in f: x("a") or b  ->  x("a") and b'))
    False
    """
    before, arrow, after = survivor.change.partition(": ")[2].partition("  ->  ")
    return bool(arrow) and without_texts(before) == without_texts(after)


def without_texts(code: str) -> list[str]:
    """The tokens of some code, every text the same."""
    texts = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, IndentationError):
        return re.sub(r"([\"'])(?:\\.|(?!\1).)*\1", '""', code).split()
    return ['""' if token.type in texts else token.string for token in tokens]


def argued() -> dict[tuple[str, str], str]:
    """Changes that no test can notice or should, by file and change, with the reason."""
    entries = tomllib.loads(ARGUED.read_text(encoding="utf-8")).get("argued", [])
    return {(entry["file"], entry["change"]): entry["reason"] for entry in entries}


def report(survivors: Sequence[Survivor], reasons: dict[tuple[str, str], str]) -> int:
    """Print the survivors that nobody argued, and how many others there are."""
    words = [survivor for survivor in survivors if is_of_words(survivor)]
    rest = [survivor for survivor in survivors if survivor not in words]
    open_ones = [survivor for survivor in rest if (survivor.file, survivor.change) not in reasons]
    for survivor in open_ones:
        print(survivor)
    print(f"{len(open_ones)} survive; {len(rest) - len(open_ones)} argued in {ARGUED.relative_to(ROOT)}, "
          f"{len(words)} of words alone")  # fmt: skip
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
