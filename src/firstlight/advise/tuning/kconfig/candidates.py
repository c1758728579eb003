"""What a kernel's configuration has that a boot does not use: groups of options that may go.

The profile of an exact boot tells every function that ran. The Makefiles tell which option a file of the source belongs
to. So an option is *unused* when no function of its files ran, and *idle* when none ran after the first user process
started. Options that a kept feature names stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from firstlight.advise.tuning.kconfig.feature import Feature, Role
from firstlight.advise.tuning.remedy import Remedy
from firstlight.bundle.boot import Boot
from firstlight.lab.kernel.definitions import definitions, files_that_ran
from firstlight.lab.kernel.kconfig import options
from firstlight.lab.kernel.makefiles import SourceFile
from firstlight.schema.marks import Phase

_BUILD = {
    "LOCALVERSION": '"-tuned"',
    # Files of the distribution's own build, and a key that differs from build to build.
    "SYSTEM_TRUSTED_KEYS": '""',
    "SYSTEM_REVOCATION_KEYS": '""',
    "SYSTEM_BLACKLIST_HASH_LIST": '""',
    "MODULE_SIG_KEY": '""',
}
#: Of the build, and tools of its own that a laboratory need not have.
_NEVER = ("LOCALVERSION_AUTO", "MODULE_SIG_ALL", "GCC_PLUGINS", "RUST", "WERROR")
#: What every kernel of a search changes: its own size, that of a root file system with its modules, and objects that
#: drivers register without a device. Its modules have no signature: with a key of each build no two would be equal.
_STATED = (
    "HC-MEM memory.total_bytes", "HC-MEM memory.present_bytes", "HC-NAMES block.pmem*", "HC-DEV device.workqueue/*",
    "HC-DEV device.event_source/*", "HC-DEV device.platform/platform-framebuffer.*", "HC-TAINT kernel.tainted",
)  # fmt: skip
#: What the smallest kernel may change: it has no devices, drivers and protection but those of the kept features.
_STATED_BY_SMALLEST = (
    "HC-DEV *", "HC-DRIVER *", "HC-NAMES *", "HC-MOD *", "HC-IRQ *", "HC-POLICY *", "HC-VULN *", "HC-CLOCK *",
    "HC-MEM *", "HC-CPU *", "HC-POWEROFF *", "HC-DMESG *mitigation*", "HC-DMESG *ulnerable*", "HC-BOOT mark smp_init",
)  # fmt: skip


class Use(StrEnum):
    """How a boot uses an option."""

    UNUSED = "unused"
    """No function of its files ran."""
    IDLE = "idle"
    """None ran after the first user process started."""
    USED = "used"
    """One did."""


@dataclass(frozen=True)
class Group:
    """Options that go or stay together."""

    id: str
    title: str
    applied: Mapping[str, str]
    """Settings without the group: values by the names of options."""
    restored: Mapping[str, str]
    """Settings with it, as the distribution has them."""
    expects: tuple[str, ...] = ()
    """Differences of health that it states."""


@dataclass(frozen=True)
class Space:
    """What may be configured: settings that all kernels share, and groups."""

    fixed: Mapping[str, str]
    groups: Sequence[Group]
    """The most harmless first."""
    modules: tuple[str, ...] = ()
    """Modules that the boot loaded; they stay modules."""
    left_out: int = 0
    """Modules that the boot did not load, and no kernel of the space has."""
    expects: tuple[str, ...] = field(default=())
    """Differences of health that all kernels state."""

    def wanted(self, without: Collection[str]) -> dict[str, str]:
        """The settings without some groups.

        >>> group = Group("a", "", {"TPM": "n"}, {"TPM": "y"})
        >>> Space({"TTY": "y"}, [group]).wanted(["a"])
        {'TTY': 'y', 'TPM': 'n'}
        """
        found = dict(self.fixed)
        for group in self.groups:
            found |= group.applied if group.id in without else group.restored
        return found


def option_uses(boot: Boot, tree: Path, files: Sequence[SourceFile], config: Mapping[str, str]) -> dict[str, Use]:
    """How a boot uses each option that puts files into its kernel.

    :param tree: the root of the kernel's source.
    :param files: what its Makefiles name.
    :param config: the configuration of the boot's kernel.
    :raises BundleError: when the boot has no profile.
    """
    built = [each for each in files if all(config.get(name) == "y" for name in each.options)]
    defined = definitions(tree, sorted({each.path for each in built}))
    ran = files_that_ran(boot.functions()["function"].to_list(), defined)
    late = ran
    # Without a first user process nothing tells what only started.
    if Phase.USERSPACE in boot.phases()["phase"].to_list():
        late = files_that_ran(boot.functions(phase=Phase.USERSPACE)["function"].to_list(), defined)
    places: dict[str, set[str]] = {}
    for each in built:
        for name in each.options[-1:]:
            places.setdefault(name, set()).add(each.path)
    return {
        name: Use.USED if paths & late else Use.IDLE if paths & ran else Use.UNUSED for name, paths in places.items()
    }


def space_of(
    config: Mapping[str, str],
    uses: Mapping[str, Use],
    files: Sequence[SourceFile],
    modules: Collection[str],
    features: Sequence[Feature],
    fragments: Sequence[Remedy],
) -> Space:
    """The space from a distribution's configuration: what it has, less the modules that the boot did not load.

    :param config: the distribution's configuration.
    :param uses: of its options, by the boot.
    :param modules: the modules that the boot loaded.
    :param features: what is kept.
    :param fragments: remedies of the layer `kconfig` that are tried as groups.
    """
    loaded = {
        name
        for each in files
        if each.module in modules and all(config.get(name, "n") != "n" for name in each.options)
        for name in each.options
    }
    fixed: dict[str, str] = {}
    off: dict[tuple[Use, str], list[str]] = {}
    left_out = 0
    folders = _folders(files)
    for name, value in config.items():
        kept = name in loaded or any(feature.keeps(name) for feature in features)
        if value == "m":
            left_out += not kept
            fixed[name] = "m" if kept else "n"
        elif value == "y" and not kept and (use := uses.get(name, Use.USED)) is not Use.USED:
            off.setdefault((use, folders[name]), []).append(name)
        else:
            fixed[name] = value
    groups = [
        Group(f"{use} {folder}", _title(use, folder, names), dict.fromkeys(names, "n"), dict.fromkeys(names, "y"))
        for (use, folder), names in sorted(off.items(), key=lambda each: (each[0][0] is not Use.UNUSED, each[0][1]))
    ]
    fixed = _with_features(fixed, features)
    groups += _of_fragments(fragments, fixed)
    return Space(
        fixed,
        groups,
        tuple(sorted(modules)),
        left_out,
        _STATED,
    )


def smallest_space(
    config: Mapping[str, str], files: Sequence[SourceFile], features: Sequence[Feature], fragments: Sequence[Remedy]
) -> Space:
    """The space whose smallest kernel has the kept features alone; groups give the distribution's options back.

    Protection, devices and drivers may be missing: every difference of health that they make is stated.
    """
    # The kernel's compression is a choice, and belongs to no file.
    choice = {name: value for name, value in config.items() if value == "y" and name.startswith("KERNEL_")}
    fixed = _with_features(choice, features)
    off: dict[str, list[str]] = {}
    folders = _folders(files)
    for name, value in config.items():
        if value == "y" and name in folders:
            if any(feature.keeps(name) and feature.role is not Role.BASE for feature in features):
                fixed[name] = value
            elif name not in fixed:
                off.setdefault(folders[name], []).append(name)
    groups = [
        Group(folder, f"{_counted(names)} of {folder}", dict.fromkeys(names, "n"), dict.fromkeys(names, "y"))
        for folder, names in sorted(off.items())
    ]
    fragment = _of_fragments(fragments, fixed)
    for each in fragment:
        fixed |= each.applied
    return Space(fixed, groups, expects=_STATED_BY_SMALLEST)


def _with_features(fixed: Mapping[str, str], features: Iterable[Feature]) -> dict[str, str]:
    needed = {name: "y" for feature in features for name in feature.set}
    return {**fixed, **needed, **_BUILD, **dict.fromkeys(_NEVER, "n")}


def _of_fragments(fragments: Sequence[Remedy], fixed: Mapping[str, str]) -> list[Group]:
    groups = []
    for each in fragments:
        kconfig = each.change.kconfig
        if kconfig is None or kconfig.text is None:
            continue
        lines = options(kconfig.text)
        before = {name: fixed.get(name, "n") for name in lines}
        groups.append(Group(each.id, each.title, lines, before, tuple(each.expects)))
    return groups


def _folders(files: Sequence[SourceFile]) -> dict[str, str]:
    """Where the first file of each option is."""
    found: dict[str, str] = {}
    for each in files:
        for name in each.options[-1:]:
            found.setdefault(name, each.folder)
    return found


def _title(use: Use, folder: str, names: Sequence[str]) -> str:
    what = "no function ran" if use is Use.UNUSED else "no function ran after the first user process started"
    return f"{_counted(names)} of {folder}: {what}"


def _counted(names: Sequence[str]) -> str:
    shown = ", ".join(sorted(names)[:3])
    return f"{names[0]}" if len(names) == 1 else f"{len(names)} options ({shown}{', …' if len(names) > 3 else ''})"
