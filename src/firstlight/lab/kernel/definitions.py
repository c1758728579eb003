"""In which source file of a kernel a function is defined, found by reading the files without compiling them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

# The kernel's style begins a definition in the first column.
_C = re.compile(r"^(?![#\s}/*])[^;={]*?\b(\w+)\s*\(", re.MULTILINE)
_SYSTEM_CALL = re.compile(r"^(?:COMPAT_)?SYSCALL_DEFINE\d\((\w+)", re.MULTILINE)
_ASSEMBLY = re.compile(r"^\s*(?:SYM_\w*START\w*|ENTRY)\((\w+)", re.MULTILINE)
#: What the compiler adds to the name of a part that it split off.
_SPLIT = re.compile(r"\.(?:isra|constprop|part|cold|llvm)\b.*$")
#: What the architectures put before the name of a system call, and what the macro does.
_WRAPPER = re.compile(r"^__[a-z0-9]+_sys_")


def definitions(tree: Path, paths: Iterable[str]) -> dict[str, set[str]]:
    """The files that define each function; several where several have a static function of one name.

    :param tree: the root of the source.
    :param paths: of files below it, without their suffixes.
    :returns: paths by the names of functions. Macros that are called in the first column count as functions, too.
    """
    found: dict[str, set[str]] = {}
    for path in paths:
        # Makefiles name so what depends on the length of a word.
        stem = path.replace("$(BITS)", "64")
        for suffix, read in ((".c", _of_c), (".S", _ASSEMBLY.findall)):
            try:
                text = (tree / (stem + suffix)).read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            for name in read(text):
                found.setdefault(name, set()).add(path)
    return found


def _of_c(text: str) -> set[str]:
    """The functions of a C file.

    >>> sorted(_of_c("static int a(void)\\n{\\n\\tb();\\n}\\nSYSCALL_DEFINE1(dup, int, fd)\\n"))
    ['SYSCALL_DEFINE1', 'a', 'sys_dup']
    """
    return {f"sys_{name}" for name in _SYSTEM_CALL.findall(text)} | set(_C.findall(text))


def files_that_ran(functions: Collection[str], defined: Mapping[str, set[str]]) -> set[str]:
    """The files of functions that ran.

    A name that several files define counts for those of them that another function shows to have run, and for all
    where none is.

    >>> sorted(files_that_ran(["init", "a", "b.cold"], {"a": {"x"}, "b": {"y"}, "init": {"x", "z"}}))
    ['x', 'y']
    """
    places = [defined.get(_WRAPPER.sub("sys_", _SPLIT.sub("", name)), set()) for name in functions]
    ran = {path for files in places if len(files) == 1 for path in files}
    for files in places:
        if not files & ran:
            ran = ran | files
    return ran
