"""Settings of a kernel's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SETTING = re.compile(r"^(?:(CONFIG_\w+)=(.*)|# (CONFIG_\w+) is not set)$")


def settings(text: str) -> dict[str, str]:
    """What lines of a kernel configuration set; `n` for what is not set.

    >>> settings("CONFIG_A=y\\n# CONFIG_B is not set\\n# a comment\\nCONFIG_C=n")
    {'CONFIG_A': 'y', 'CONFIG_B': 'n', 'CONFIG_C': 'n'}
    """
    found = {}
    for line in text.splitlines():
        if (match := _SETTING.match(line.strip())) is not None:
            found[match[1] or match[3]] = match[2] if match[1] else "n"
    return found


def options(text: str) -> dict[str, str]:
    """As :func:`settings`, by the names of options: without `CONFIG_`.

    >>> options("CONFIG_A=y\\n# CONFIG_B is not set")
    {'A': 'y', 'B': 'n'}
    """
    return {name.removeprefix("CONFIG_"): value for name, value in settings(text).items()}


def overruled(config: str, wanted: dict[str, str]) -> list[tuple[str, str, str]]:
    """What a configuration has otherwise than a fragment said: a dependency that overrules it leaves no error behind.

    :returns: name, what was wanted, and what it is.

    >>> overruled("CONFIG_A=m\\n", {"CONFIG_A": "y", "CONFIG_B": "n"})
    [('CONFIG_A', 'y', 'm')]
    """
    built = settings(config)
    return [(name, value, now) for name, value in wanted.items() if (now := built.get(name, "n")) != value]


def as_lines(values: Mapping[str, str]) -> str:
    """Settings as lines of a kernel configuration.

    :param values: by the names of options, without `CONFIG_`.

    >>> as_lines({"A": "y", "B": "n", "C": '"text"'})
    'CONFIG_A=y\\n# CONFIG_B is not set\\nCONFIG_C="text"\\n'
    """
    return "".join(
        f"# CONFIG_{name} is not set\n" if value == "n" else f"CONFIG_{name}={value}\n"
        for name, value in values.items()
    )
