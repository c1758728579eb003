"""What a boot was measured on: figures of two testbeds cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from firstlight._core import architecture_family, is_same_model
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.machine import processors
from firstlight.frozen import FrozenModel
from firstlight.recipe.mode import RecordMode
from firstlight.schema.aliases import MARK_ALIASES


class Testbed(FrozenModel):
    """Everything beside the system under test that decides how long it takes."""

    __test__: ClassVar[bool] = False  # pytest takes it for a test by its name

    mode: RecordMode
    clock: str
    shift: int | None
    architecture: str | None
    """Of an imported boot, as far as its records state it; the machine likewise."""
    emulator: str | None
    machine: str | None
    processor: str | None
    accelerator: str | None
    memory: str | None
    first_mark: str
    last_mark: str

    def in_present_words(self) -> Testbed:
        """The same with the present names of marks, of one that an earlier version wrote.

        >>> import firstlight
        >>> bed = describe_testbed(firstlight.open(bundle))
        >>> bed.model_copy(update={"last_mark": "startup_over"}).in_present_words().last_mark
        'startup_settled'
        """
        marks = {name: getattr(self, name) for name in ("first_mark", "last_mark")}
        return self.model_copy(update={name: MARK_ALIASES.get(mark, mark) for name, mark in marks.items()})


#: The fields whose difference is reported, but does not forbid: a change under test may well be this.
TOLD = frozenset({"memory"})

#: What only some records of an imported boot state: a boot that does not state it may be of any testbed.
STATED = ("architecture", "machine")

_WORDS = {
    "mode": "the mode of recording",
    "clock": "the clock",
    "shift": "the icount shift",
    "architecture": "the architecture",
    "emulator": "QEMU",
    "machine": "the machine",
    "processor": "the processor",
    "accelerator": "the accelerator",
    "memory": "the memory",
    "first_mark": "the mark where it begins",
    "last_mark": "the mark where it ends",
}


def describe_testbed(boot: Boot) -> Testbed:
    """The testbed of a boot.

    >>> import firstlight
    >>> describe_testbed(firstlight.open(bundle)).machine
    'pc-i440fx-7.2'
    """
    manifest = boot.manifest
    whole = window(boot)
    qemu = manifest.versions.get("qemu")
    facts = boot.fact_values() if manifest.mode == RecordMode.IMPORTED else {}
    return Testbed(
        mode=manifest.mode,
        clock=manifest.clock.kind,
        shift=manifest.clock.icount_shift,
        architecture=manifest.recipe_text("architecture") or _architecture(facts),
        emulator=None if qemu is None else str(qemu),
        machine=manifest.recipe_text("machine") or _model(facts),
        processor=_processor(boot),
        accelerator=manifest.recipe_text("accelerator"),
        memory=manifest.recipe_text("memory"),
        first_mark=whole.first,
        last_mark=whole.end,
    )


def _processor(boot: Boot) -> str | None:
    """Several of a kind are another testbed than one."""
    model, number = boot.manifest.recipe_text("cpu"), processors(boot)
    return model if model is None or number == 1 else f"{number} of {model}"


def _architecture(facts: Mapping[str, str]) -> str | None:
    """The family of the architecture: the records of one boot name it in several ways."""
    return architecture_family(facts.get("system.architecture", "").strip().lower()) or None


def _model(facts: Mapping[str, str]) -> str | None:
    """The model of a machine, by the firmware's table or by the device tree."""
    vendor, product = facts.get("dmi.vendor", ""), facts.get("dmi.product", "")
    text = f"{vendor} {product}" if product else facts.get("device_tree.model", "")
    return " ".join(text.split()) or None


def combined(one: Testbed, other: Testbed) -> Testbed:
    """A testbed, with what only the records of another boot of it state.

    >>> import firstlight
    >>> one = describe_testbed(firstlight.open(bundle))
    >>> combined(one.model_copy(update={"machine": None}), one).machine
    'pc-i440fx-7.2'
    """
    # Of two names of one model the longer one states more.
    stated = {name: max(getattr(one, name) or "", getattr(other, name) or "", key=len) or None for name in STATED}
    return one.model_copy(update=stated)


def _is_one(name: str, one: Testbed, other: Testbed) -> bool:
    """Whether a field of two testbeds is the same, or is not stated by the records of one of them."""
    before, after = getattr(one, name), getattr(other, name)
    if before == after:
        return True
    if name not in STATED or not one.mode == other.mode == RecordMode.IMPORTED:
        return False
    return before is None or after is None or (name == "machine" and is_same_model(before, after))


def differences(one: Testbed, other: Testbed) -> dict[str, str]:
    """What differs between two testbeds, in words, by the name of the field.

    Of imported boots, what the records of one do not state does not differ.

    >>> import firstlight
    >>> one = describe_testbed(firstlight.open(bundle))
    >>> differences(one, one.model_copy(update={"shift": 3}))
    {'shift': 'the icount shift is 3, not 0'}
    """
    found = {}
    for name, words in _WORDS.items():
        before, after = getattr(one, name), getattr(other, name)
        if not _is_one(name, one, other):
            found[name] = f"{words} is {_shown(after)}, not {_shown(before)}"
    return found


def _shown(value: object) -> str:
    return "unknown" if value is None else f"`{value}`" if isinstance(value, str) else str(value)
