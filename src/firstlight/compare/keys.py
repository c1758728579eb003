"""Names that stay the same from one build to the next."""

from __future__ import annotations

import re

# What compilers append to a function that they cloned, split or made local: it changes with every build.
_SUFFIX = re.compile(
    r"(?:\.(?:isra|constprop|part|cold|llvm|lto_priv|specialized|localalias|clone|exit|split|warm|unlikely|hot)(?:\.[0-9]+)*"
    r"|\.[0-9]+)+\Z"
)


def stable_name(function: str) -> str:
    """The name of a function without what a compiler appended to it.

    >>> stable_name("f.isra.0.cold"), stable_name("f.llvm.1234567"), stable_name("f.part.0.constprop.1")
    ('f', 'f', 'f')
    >>> stable_name("virtio_net_driver_init"), stable_name("[kernel without symbol]"), stable_name(".cold")
    ('virtio_net_driver_init', '[kernel without symbol]', '.cold')
    """
    shortened = _SUFFIX.sub("", function) if "." in function and not function.startswith("[") else function
    return shortened or function
