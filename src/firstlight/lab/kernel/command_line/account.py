"""The reader of each kernel parameter: the kernel, a module, userspace, or none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.bundle.command_line import PADDING, CommandLineWord, WordReader
from firstlight.lab.kernel.command_line.parameters import Parameters, module_parameters, plain
from firstlight.lab.kernel.command_line.vocabulary import KMOD, LATE, LOADER, READ_RAW, SYSTEMD, Reader

#: Since Linux 5.14 (`print_unknown_bootoptions` in `init/main.c`).
_UNKNOWN = re.compile(r'Unknown kernel command line parameters "(.*)", will be passed to user space\.')
_WORD = re.compile(r'(?:"[^"]*"?|[^\s"])+')
_HANDED = "to the first process"


@dataclass(frozen=True)
class WordEvidence:
    """What a boot shows about who read its command line."""

    parameters: Parameters
    unknown: frozenset[str] | None = None
    """Words that the kernel itself said it did not know; `None` when it said nothing about any."""
    built_in: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Parameters by module, of loaded and built-in ones, as the guest reported them."""
    loaded: frozenset[str] | None = None
    """Modules that were loaded when the guest reported; `None` when it reported nothing."""
    modules: Path | None = None
    """The kernel's `lib/modules/RELEASE`, where it is known."""
    readers: tuple[Reader, ...] = ()
    """The programs of the userspace that look at the command line."""
    mentioned: str = ""
    """What the person's own commands for the guest say: who names a word there reads it."""
    overlay: str = ""
    """What the files of the overlay say, likewise."""


def split_words(line: str) -> tuple[list[str], list[str]]:
    """The words of a command line as the kernel parts them, and those behind `--`, which are for the first process.

    >>> split_words('quiet dyndbg="file a.c +p" -- single')
    (['quiet', 'dyndbg="file a.c +p"'], ['single'])
    """
    words = _WORD.findall(line)
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def words_said_unknown(messages: str) -> frozenset[str] | None:
    """The words that a kernel said it did not know, in its log; `None` when it said no such thing.

    >>> sorted(words_said_unknown('Unknown kernel command line parameters "a b=1", will be passed to user space.'))
    ['a', 'b=1']
    """
    found = _UNKNOWN.search(messages)
    return None if found is None else frozenset(_WORD.findall(found[1]))


def account(command_line: str, evidence: WordEvidence) -> list[CommandLineWord]:
    """Say of every word of a command line who read it.

    Source of the order: `start_kernel` in the kernel's `init/main.c`, which parses early parameters, then those of
    built-in modules, then `__setup`; ignores any other name with a dot, which a module may read when it is loaded; and
    hands the rest to the first process.

    >>> known = Parameters(frozenset({"console="}), frozenset({"printk.time"}))
    >>> [word.reader.value for word in account("console=ttyS0 printk.time=1 loop.max_loop=8 tpyo", WordEvidence(known))]
    ['kernel', 'kernel', 'unknown', 'nobody']
    >>> [word.reader.value for word in account("firstlight.padding=xx", WordEvidence(known))]
    ['firstlight']
    """
    ours, behind = split_words(command_line)
    words = [CommandLineWord(word, *_read(word, evidence)) for word in ours]
    if behind:
        words.append(CommandLineWord("--", WordReader.KERNEL, "what follows is for the first process"))
    return words + [CommandLineWord(word, WordReader.USERSPACE, f"handed {_HANDED}") for word in behind]


def _read(word: str, evidence: WordEvidence) -> tuple[WordReader, str]:
    name = word.strip('"').partition("=")[0]
    if word.startswith(PADDING):
        return WordReader.FIRSTLIGHT, "makes the command line longer"
    for found in (_kernel(word, name, evidence), _module(name, evidence), _userspace(name, evidence)):
        if found is not None:
            return found
    if LOADER.fullmatch(name):
        return WordReader.LOADER, "for whoever wants to know it"
    if not evidence.parameters.known and evidence.unknown is None and "." not in name:
        return (
            WordReader.UNKNOWN,
            "the kernel's parameters are not known, and it did not list unknown ones",
        )
    return WordReader.NOBODY, _why(name, evidence)


def _kernel(word: str, name: str, evidence: WordEvidence) -> tuple[WordReader, str] | None:
    known = evidence.parameters
    if name == "kaslr" and name not in known.raw:
        return WordReader.FIRSTLIGHT, "leaves `nokaslr` out for it"
    if word == "nokaslr" and word not in known.raw and known.known:
        return WordReader.FIRSTLIGHT, "wants it, and this kernel has but one address"
    if (parameter := _built_in(name, evidence)) is not None:
        return WordReader.KERNEL, parameter
    setup = next((each for each in sorted(known.setup, key=len, reverse=True) if _takes(each, word, name)), None)
    if setup is not None:
        refused = evidence.unknown is not None and word in evidence.unknown
        detail = f"{setup.removesuffix('=')}, which did not take it" if refused and name not in known.raw else None
        return WordReader.KERNEL, detail or setup.removesuffix("=")
    if name in known.raw or (not known.known and name in READ_RAW):
        return WordReader.KERNEL, f"{name}, read by its first code"
    if LATE.fullmatch(name):
        return WordReader.KERNEL, name
    if not known.known and "." not in name and evidence.unknown is not None and word not in evidence.unknown:
        return WordReader.KERNEL, f"{name}, because the kernel named others as unknown"
    return None


def _built_in(name: str, evidence: WordEvidence) -> str | None:
    if (same := plain(name)) in {plain(each) for each in evidence.parameters.built_in}:
        return name
    module, dot, parameter = same.partition(".")
    shown = evidence.built_in.get(module, frozenset())
    if dot and parameter in shown and evidence.loaded is not None and module not in evidence.loaded:
        return name
    return None


def _takes(setup: str, word: str, name: str) -> bool:
    if setup.endswith("="):
        return plain(word).startswith(plain(setup)) or plain(name) == plain(setup[:-1])
    return plain(name) == plain(setup) or plain(word) == plain(setup)


def _module(name: str, evidence: WordEvidence) -> tuple[WordReader, str] | None:
    module, dot, parameter = plain(name).partition(".")
    if not dot or any(each.names.fullmatch(name) for each in (*evidence.readers, KMOD)):
        return None
    takes = module_parameters(evidence.modules, module) if evidence.modules is not None else None
    takes = takes if takes is not None else evidence.built_in.get(module)
    if evidence.loaded is None:
        # A guest without a report keeps to itself what it loaded.
        if takes is not None and parameter not in takes:
            return WordReader.NOBODY, f"the module {module} has no parameter {parameter}"
        return WordReader.UNKNOWN, f"no report says whether the module {module} was loaded"
    if module not in evidence.loaded:
        return None
    if takes is not None and parameter not in takes:
        return WordReader.NOBODY, f"the module {module} has no parameter {parameter}"
    return WordReader.MODULE, f"{module}, parameter {parameter}"


def _userspace(name: str, evidence: WordEvidence) -> tuple[WordReader, str] | None:
    for reader in (*evidence.readers, KMOD):
        if reader.names.fullmatch(name):
            return WordReader.USERSPACE, reader.name
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    if named.search(evidence.mentioned):
        return WordReader.USERSPACE, "a command that you gave to the guest names it"
    if named.search(evidence.overlay):
        return WordReader.USERSPACE, "a file of the overlay names it"
    return None


def _why(name: str, evidence: WordEvidence) -> str:
    module, dot, parameter = plain(name).partition(".")
    if dot:
        if module in evidence.built_in:
            return f"{module} is built in, and has no parameter {parameter}"
        takes = module_parameters(evidence.modules, module) if evidence.modules is not None else None
        if takes is None:
            if SYSTEMD.names.fullmatch(name):
                return "no systemd ran in this boot, and the kernel has no such parameter"
            return f"the kernel has no parameter {name}, and no module {module} was loaded"
        if parameter not in takes:
            return f"the module {module} has no parameter {parameter}, and was not loaded"
        return f"the module {module} was not loaded"
    near = _nearest(name, evidence.parameters)
    hint = f"; did you mean `{near}`?" if near else ""
    return f"the kernel has no parameter {name}, and no program that Firstlight knows reads it{hint}"


def _nearest(name: str, parameters: Parameters) -> str | None:
    names = [each.removesuffix("=") for each in _names(parameters)]
    return next(iter(difflib.get_close_matches(name, names, 1, 0.8)), None)


def _names(parameters: Parameters) -> Iterator[str]:
    yield from sorted(parameters.setup)
    yield from sorted(parameters.built_in)
