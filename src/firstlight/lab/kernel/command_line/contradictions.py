"""Kernel parameters of the user that contradict those of Firstlight."""

from __future__ import annotations

from collections.abc import Iterator

from firstlight.lab.kernel.command_line.account import split_words
from firstlight.lab.kernel.command_line.parameters import plain

_LAST_COUNTS = "the kernel takes the last, which is yours"
_SAME_NAME = {
    "console": "the kernel prints on both, and `/dev/console` is the last: what programs print there is not recorded "
    "unless that is the first serial port",
    "root": _LAST_COUNTS,
    "rootfstype": _LAST_COUNTS,
    "init": _LAST_COUNTS,
    "ramdisk_size": _LAST_COUNTS,
}
_RANDOM_PROGRAMS = "sysctl.kernel.randomize_va_space"


def wants_kaslr(append: str) -> bool:
    """Whether the user asks for a kernel at a random address.

    >>> wants_kaslr("quiet kaslr"), wants_kaslr("kaslr nokaslr"), wants_kaslr("-- kaslr")
    (True, False, False)
    """
    words = split_words(append)[0]
    return "kaslr" in words and "nokaslr" not in words


def contradictions(ours: str, theirs: str) -> Iterator[str]:
    """Say which words of the user's contradict which of Firstlight's, and what comes of it.

    >>> list(contradictions("console=ttyS0 norandmaps", "root=/dev/vda"))
    []
    >>> next(contradictions("root=/dev/pmem0", "root=/dev/vda"))
    '`root=/dev/vda` conflicts with `root=/dev/pmem0` of Firstlight: the kernel takes the last, which is yours'
    """
    own = {plain(word.partition("=")[0]): word for word in split_words(ours)[0]}
    for word in split_words(theirs)[0]:
        name = plain(word.partition("=")[0])
        if name in _SAME_NAME and own.get(name, word) != word:
            yield f"`{word}` conflicts with `{own[name]}` of Firstlight: {_SAME_NAME[name]}"
        elif name == plain(_RANDOM_PROGRAMS) and not word.endswith("=0") and "norandmaps" in own:
            what = "programs are at random addresses, so every change moves all other work"
            yield f"`{word}` conflicts with `norandmaps` of Firstlight: {what}"
