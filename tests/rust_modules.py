"""The files of a Rust crate, and which of them name one another.

A module that names its submodule and is named by it is a circle, too: what both need belongs into a third file.
"""

from __future__ import annotations

import re
from pathlib import Path

_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|b?"(?:[^"\\]|\\.)*"|b?r(#*)".*?"\1', re.DOTALL)
_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.MULTILINE)
_USE = re.compile(r"^\s*(?P<public>pub(?:\([^)]*\))? )?use (?P<tree>[^;]+);", re.MULTILINE)
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")

Module = tuple[str, ...]


def _module(path: Path, source: Path) -> Module:
    parts = path.relative_to(source).with_suffix("").parts
    return () if parts in (("lib",), ("main",)) else parts[:-1] if parts[-1] == "mod" else parts


def _leaves(tree: str) -> list[str]:
    """The paths of the tree of a ``use``: ``a::{b, c::{d as e}}`` is ``a::b`` and ``a::c::d``."""
    tree = re.sub(r"\s+as \w+", "", "".join(tree.split("\n"))).strip()
    brace = tree.find("{")
    if brace < 0:
        return ["".join(tree.split())]
    parts, depth, start = [], 0, brace + 1
    for place, letter in enumerate(tree[brace:], brace):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if (letter == "," and depth == 1) or (letter == "}" and depth == 0):
            parts.append(tree[start:place])
            start = place + 1
    return [tree[:brace].strip() + leaf for part in parts if part.strip() for leaf in _leaves(part)]


def graph(source: Path) -> dict[str, set[str]]:
    """Return for each file below ``src`` the files that it names; what a file only passes on is its origin's."""
    files = {
        _module(path, source): path for path in sorted(source.rglob("*.rs")) if "tests" not in (path.stem, *path.parts)
    }
    texts = {}
    for module, path in files.items():
        text = path.read_text()
        tests = _TESTS.search(text)
        texts[module] = _NOISE.sub('""', text[: tests.start()] if tests else text)

    def absolute(path: str, module: Module) -> Module | None:
        head, *rest = path.split("::")
        if head == "crate":
            return tuple(rest)
        while head == "super":
            module = module[:-1]
            head, *rest = rest if rest else [""]
            if head != "super":
                return (*module, head, *rest)
        if head == "self":
            return (*module, *rest)
        return (*module, head, *rest) if (*module, head) in files else None

    passed_on: dict[Module, Module] = {}
    for module, text in texts.items():
        for found in _USE.finditer(text):
            for leaf in _leaves(found["tree"]) if found["public"] else []:
                if (target := absolute(leaf, module)) is not None:
                    passed_on[(*module, target[-1])] = target

    def file_of(path: Module) -> Module | None:
        for _ in range(10):
            for length in range(len(path), 0, -1):
                if (target := passed_on.get(path[:length])) and target != path[:length]:
                    path = (*target, *path[length:])
                    break
            else:
                break
        return next((path[:length] for length in range(len(path), -1, -1) if path[:length] in files), None)

    named: dict[str, set[str]] = {}
    for module, text in texts.items():
        own = [leaf for found in _USE.finditer(text) if not found["public"] for leaf in _leaves(found["tree"])]
        paths = own + _PATH.findall(_USE.sub("", text))
        targets = {file_of(to) for leaf in paths if (to := absolute(leaf, module)) is not None}
        others = (to for to in targets if to is not None and to != module)
        named[_name(files[module], source)] = {_name(files[to], source) for to in others}
    return named


def _name(path: Path, source: Path) -> str:
    return str(path.relative_to(source))


def cycles(named: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of files that name one another in a circle."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [*named.get(start, ())]
        while todo:
            file = todo.pop()
            if file not in seen:
                seen.add(file)
                todo += named.get(file, ())
        return seen

    reached = {file: reach(file) for file in named}
    circles = {
        frozenset(other for other in reached[file] if file in reached[other]) for file in named if file in reached[file]
    }
    return sorted(map(set, circles), key=sorted)
