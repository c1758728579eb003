"""The skeleton of a user's study: files with `@NAME@` and `@PACKAGE@` in them."""

from __future__ import annotations

import re
from importlib import resources
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

from firstlight.errors import FirstlightError, UsageError
from firstlight.plugins import plugins
from firstlight.study.catalogue import GROUP

_FILES = {
    "README.md": "README.md.in",
    "pyproject.toml": "pyproject.toml.in",
    "@PACKAGE@/__init__.py": "init.py.in",
    "@PACKAGE@/plan.toml": "plan.toml.in",
    "@PACKAGE@/claims.toml": "claims.toml.in",
    "@PACKAGE@/historical.toml": "historical.toml.in",
}


def write_skeleton(name: str, directory: Path) -> list[Path]:
    """Write a study that boots two arms, as a package to change.

    :param name: lower case, with dashes.
    :raises UsageError: for a name that no package can have, or that an installed study has.
    :raises FirstlightError: when the directory has files already, or cannot be written.
    """
    if re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) is None:
        raise UsageError(
            f"not a name of a study: `{name}`", hint="write it in lower case, with dashes: `quiet-console`"
        )
    if any(plugin.name == name for plugin in plugins(GROUP)):
        raise UsageError(
            f"there is a study `{name}` already", hint="`firstlight study list` lists all: choose another name"
        )
    package = name.replace("-", "_")
    if iskeyword(package) or _is_installed(package):
        raise UsageError(
            f"Python has a module `{package}` already, so no study can have that name",
            hint=f"choose another one, such as `{name}-study`",
        )
    words = {"@NAME@": name, "@PACKAGE@": package}
    written = []
    try:
        if directory.exists() and any(directory.iterdir()):
            raise FirstlightError("the directory has files already", where=str(directory), hint="choose another one")
        for place, template in _FILES.items():
            text = resources.files(__name__).joinpath(template).read_text(encoding="utf-8")
            for word, value in words.items():
                text, place = text.replace(word, value), place.replace(word, value)
            path = directory / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise FirstlightError(f"cannot be written: {error.strerror}", where=str(directory)) from error
    return written


def _is_installed(package: str) -> bool:
    """Whether an import of the name gives a module; a folder that lies in the current directory is none."""
    found = find_spec(package)
    return found is not None and found.origin is not None
