"""What one boot shows about the readers of its command line."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.bundle.command_line import CommandLineWord
from firstlight.lab.guest.report import Report
from firstlight.lab.kernel.command_line.account import WordEvidence, account, words_said_unknown
from firstlight.lab.kernel.command_line.parameters import kernel_parameters, plain
from firstlight.lab.kernel.command_line.vocabulary import DRACUT, HELPER, INITRAMFS_TOOLS, SYSTEMD, Reader
from firstlight.lab.rootfs.overlay import texts
from firstlight.lab.run.resolve import Inputs


def words_of(inputs: Inputs, report: Report, log: str) -> list[CommandLineWord]:
    """Every word of the command line that a boot had, with who read it.

    :param report: the guest's, perhaps empty.
    :param log: what the console printed.
    """
    recipe = inputs.recipe
    said = f"{report.text('kmsg') or ''}\n{log}"
    listed = report.text("modules")
    evidence = WordEvidence(
        # Not the symbols that this machine may have of the kernel: an equal boot elsewhere has equal facts.
        parameters=kernel_parameters(inputs.kernel, inputs.symbols),
        unknown=words_said_unknown(said),
        built_in=_by_module(report.text("module.parameters") or ""),
        loaded=None if listed is None else frozenset(line.split()[0] for line in listed.splitlines() if line.strip()),
        modules=inputs.kernel.modules,
        readers=_readers(inputs, report, said),
        mentioned="\n".join(recipe.chosen.guest_commands),
        overlay="" if recipe.chosen.overlay is None else texts(recipe.chosen.overlay),
    )
    return account(recipe.command_line, evidence)


def _by_module(text: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        module, _, parameter = line.partition("\t")
        found.setdefault(plain(module), set()).add(plain(parameter))
    return {module: frozenset(parameters) for module, parameters in found.items()}


def _readers(inputs: Inputs, report: Report, said: str) -> tuple[Reader, ...]:
    chosen = inputs.recipe.chosen
    readers = [HELPER] if chosen.initrd is None and (chosen.root_as is None or chosen.guest_helper) else []
    if chosen.rootfs == "debian" or "systemd[1]:" in said or "systemd.failed" in report.records:
        readers.append(SYSTEMD)
    if chosen.initrd is not None:
        readers += [INITRAMFS_TOOLS, DRACUT]
    return tuple(readers)
