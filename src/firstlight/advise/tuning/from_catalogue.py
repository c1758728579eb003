"""Remedies of the causes that `firstlight explain` names in a boot, as a tuning tries them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from firstlight.advise import entry as catalogue
from firstlight.advise.entry import Layer
from firstlight.advise.findings import explain
from firstlight.advise.tuning.remedy import Remedy, Risk
from firstlight.bundle.boot import Boot
from firstlight.experiment.change import Kconfig, RecipeChange

_FACT = re.compile(r"\{([a-z_.]+)\}")


def found_remedies(boot: Boot, known: Sequence[Remedy]) -> list[Remedy]:
    """The remedies of the causes in a boot, without those that add the same words as a known one.

    :raises BundleError: when a table of the boot cannot be read.

    >>> import firstlight
    >>> all(each.id for each in found_remedies(firstlight.open(bundle), []))
    True
    """
    facts = boot.fact_values()
    said = {frozenset(each.change.append.split()) for each in known if each.change.append}
    causes = explain(boot)
    found = []
    for finding in (*causes.findings, *causes.machine, *causes.features):
        for remedy in remedies_of(finding.entry, facts):
            words = frozenset(remedy.change.append.split())
            if not words or words not in said:
                found.append(remedy)
                said |= {words}
    return found


def remedies_of(entry: catalogue.Entry, facts: Mapping[str, str]) -> Iterator[Remedy]:
    """The remedies of an entry of the catalogue that add to a recipe; its risk is taken for medium.

    One that takes words away, changes a compression or is applied by hand is left out, and so is one that needs a
    fact which the boot does not have.

    >>> from firstlight.advise.read import catalogue
    >>> [each.change.append for each in remedies_of(catalogue().entry("INI-03"), {}) if each.change.append]
    ['cryptomgr.notests']
    """
    for number, remedy in enumerate(entry.remedies, start=1):
        difference = _difference(remedy, facts)
        if difference is None:
            continue
        yield Remedy(
            id=f"{entry.id.lower()}-{number}",
            title=entry.title,
            layer=Layer(remedy.layer.value),
            change=difference,
            mask=list(remedy.mask),
            risk=Risk.MEDIUM,
            takes_away=entry.risk,
            systemd=bool(remedy.mask),
        )


def _difference(remedy: catalogue.Remedy, facts: Mapping[str, str]) -> RecipeChange | None:
    if not remedy.is_applicable or remedy.without or remedy.without_options or remedy.compression:
        return None
    if any(name not in facts for name in _FACT.findall(remedy.words)):
        return None
    files = dict(remedy.files)
    initramfs = remedy.layer is catalogue.Layer.INITRAMFS
    return RecipeChange(
        append=_FACT.sub(lambda match: facts[match[1]], remedy.words),
        kconfig=Kconfig(text="\n".join(remedy.kconfig) + "\n") if remedy.kconfig else None,
        files={} if initramfs else files,
        initramfs_files=files if initramfs else {},
        cpu=remedy.cpu,
        machine=remedy.machine,
        memory=remedy.memory,
    )
