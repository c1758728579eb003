"""Names that stay the same from one build to the next."""

from __future__ import annotations

import re

# What compilers append to a function that they cloned, split or made local: it changes with every build.
_SUFFIX = re.compile(
    r"(?:\.(?:isra|constprop|part|cold|llvm|lto_priv|specialized|localalias|clone|exit|split|warm|unlikely|hot)(?:\.[0-9]+)*"
    r"|\.[0-9]+)+\Z"
)

# What distinguishes different functions of one name: where each of them stands.
_PLACE = re.compile(r"(?<=.)@[0-9a-f]+\Z", re.DOTALL)


def stable_name(function: str) -> str:
    """The name of a function without what a compiler appended to it.

    >>> stable_name("f.isra.0.cold"), stable_name("f.llvm.1234567"), stable_name("f.part.0.constprop.1")
    ('f', 'f', 'f')
    >>> stable_name("virtio_net_driver_init"), stable_name("[kernel without symbol]"), stable_name(".cold")
    ('virtio_net_driver_init', '[kernel without symbol]', '.cold')
    >>> stable_name("type_show@ffffffff81234560"), stable_name("[user a@0]")
    ('type_show', '[user a@0]')
    """
    if function.startswith("["):
        return function
    plain = _PLACE.sub("", function) if "@" in function else function
    return (_SUFFIX.sub("", plain) if "." in plain else plain) or plain
