"""Where the source has the vocabulary's names as bare literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

#: Comments, strings of bytes, raw strings, strings and characters of Rust; what is not a string is passed over.
_RUST = re.compile(
    r'//[^\n]*|/\*.*?\*/|b"(?:[^"\\]|\\.)*"|b?r(#*)".*?"\1|b?\'(?:[^\'\\\n]|\\.[^\']*)\'|"(?P<text>(?:[^"\\]|\\.)*)"',
    re.DOTALL,
)
_TYPESCRIPT = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?P<double>(?:[^"\\\n]|\\.)*)"|\'(?P<single>(?:[^\'\\\n]|\\.)*)\'|`(?P<template>(?:[^`\\]|\\.)*)`',
    re.DOTALL,
)
_RUST_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.MULTILINE)


def rust(text: str) -> Iterator[str]:
    """Yield the texts of a Rust file up to its tests; strings of bytes are what records hold, and no names."""
    tests = _RUST_TESTS.search(text)
    for found in _RUST.finditer(text[: tests.start()] if tests else text):
        if found["text"] is not None:
            yield found["text"]


def python(text: str) -> Iterator[str]:
    """Yield the texts of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def typescript(text: str) -> Iterator[str]:
    """Yield the texts of a TypeScript file."""
    for found in _TYPESCRIPT.finditer(text):
        yield from (literal for literal in found.groupdict().values() if literal is not None)


def sources(root: Path) -> Iterator[tuple[Path, Iterator[str]]]:
    """Yield every file that is neither the vocabulary itself nor a test, and its texts."""
    for crate in sorted(root.glob("crates/*/src")):
        for path in sorted(crate.rglob("*.rs")):
            if crate.parent.name != "schema" and "tests" not in (*path.parts, path.stem):
                yield path, rust(path.read_text())
    for path in sorted((root / "src").rglob("*.py")):
        if path.parent.name != "schema":
            yield path, python(path.read_text())
    for path in sorted((root / "web/src").rglob("*.ts")):
        if path.name != "schema.ts" and not path.name.endswith(".test.ts"):
            yield path, typescript(path.read_text())


def literals(root: Path, names: set[str]) -> dict[str, set[str]]:
    """Return by file, below ``root``, the names that stand in it as bare literals."""
    found = {str(path.relative_to(root)): names & set(texts) for path, texts in sources(root)}
    return {path: bare for path, bare in found.items() if bare}
