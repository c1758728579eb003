"""The search for the smallest kernel: bisection, candidates, features; with invented kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import firstlight
from firstlight.advise.tuning.kconfig.candidates import Use, smallest_space, space_of
from firstlight.advise.tuning.kconfig.feature import Feature, kept_features, lost_feature, read_features
from firstlight.advise.tuning.kconfig.kernels import KernelWish, find_kernel, fragment_of, shipped_fragments
from firstlight.advise.tuning.kconfig.minimise import AttemptOutcome, Groups, Minimised, Stage, minimise
from firstlight.advise.tuning.remedy import Remedy
from firstlight.advise.tuning.search import Measured
from firstlight.bundle.boot import Boot
from firstlight.errors import LabError, UsageError
from firstlight.lab.host.progress import SilentProgress
from firstlight.lab.kernel.kconfig import as_lines
from firstlight.lab.kernel.makefiles import SourceFile
from firstlight.recipe.isa import DEFAULT

NAMES = [f"g{number}" for number in range(40)]


def find(
    needed: Mapping[str, str], refused: Mapping[str, str] | None = None, budget: int = 100
) -> tuple[Minimised, list[Groups]]:
    built: list[Groups] = []

    def configures(without: Groups) -> str:
        return next((why for name, why in (refused or {}).items() if name in without), "")

    def kernel(without: Groups) -> AttemptOutcome:
        built.append(without)
        why = next((why for name, why in needed.items() if name in without), "")
        if why.startswith("build"):
            return AttemptOutcome(Stage.BUILD, None, why)
        return AttemptOutcome(Stage.BOOT, 1000 - len(without), why)

    return minimise(NAMES, configures, kernel, budget), built


def test_all_groups_go_where_none_is_needed_with_one_build() -> None:
    found, built = find({})
    assert found.without == frozenset(NAMES)
    assert (len(built), found.complete, found.restored) == (1, True, {})


def test_each_needed_group_stays_and_says_why() -> None:
    needed = {"g3": "unhealthy: HC-MOUNT", "g17": "build: `make bzImage` failed", "g39": "the boot has no mark `ready`"}
    found, built = find(needed)
    assert found.without == frozenset(NAMES) - set(needed)
    assert found.restored == needed
    assert len(built) == len(set(built)) <= 20


def test_what_the_configuration_refuses_costs_no_build() -> None:
    refused = {"g0": "the feature `ext4` is lost", "g20": "the feature `virtio` is lost"}
    found, built = find({}, refused)
    assert found.restored == refused
    assert len(built) == 1


def test_two_groups_of_which_one_has_to_stay_cost_only_one_of_them() -> None:
    def kernel(without: Groups) -> AttemptOutcome:
        return AttemptOutcome(Stage.BOOT, 1, "no console" if {"g5", "g9"} <= without else "")

    found = minimise(NAMES, lambda without: "", kernel, 100)
    assert found.without == frozenset(NAMES) - {"g9"}


@pytest.mark.parametrize("budget", [1, 2, 3, 5])
def test_the_budget_of_builds_is_never_exceeded_and_the_best_kernel_so_far_is_kept(budget: int) -> None:
    found, built = find({"g30": "no root"}, budget=budget)
    assert len(built) <= budget
    assert not found.complete
    if found.without is not None:
        assert "g30" not in found.without
        assert found.restored["g30"] == "the budget ended before it was decided"


def test_a_start_that_fails_is_named_and_no_kernel_is_kept() -> None:
    found = minimise(
        ["a", "b"], lambda without: "", lambda without: AttemptOutcome(Stage.BUILD, None, "no compiler"), 50
    )
    assert found.without is None
    assert found.trouble == "no compiler"
    assert len(found.tried) == 3


FILES = [
    SourceFile("fs/ext4/super", ("EXT4_FS",), "ext4"),
    SourceFile("drivers/char/tpm/tpm", ("TCG_TPM",), "tpm"),
    SourceFile("drivers/xen/xen", ("XEN",), "xen"),
    SourceFile("drivers/virtio/virtio", ("VIRTIO",), "virtio"),
    SourceFile("fs/fuse/inode", ("FUSE_FS",), "fuse"),
    SourceFile("sound/core", ("SOUND",), "soundcore"),
    SourceFile("init/main", (), "main"),
]
CONFIG = {
    "EXT4_FS": "y", "TCG_TPM": "y", "XEN": "y", "VIRTIO": "m", "FUSE_FS": "m", "SOUND": "m", "HZ": "250",
    "RETPOLINE": "y", "CRYPTO_MANAGER_DISABLE_TESTS": "n",
}  # fmt: skip
USES = {"EXT4_FS": Use.USED, "TCG_TPM": Use.UNUSED, "XEN": Use.IDLE}


def features(*names: str) -> list[Feature]:
    known = {each.id: each for each in read_features()}
    return [known[name] for name in names]


def test_the_space_has_what_the_boot_uses_and_groups_of_what_it_does_not() -> None:
    space = space_of(CONFIG, USES, FILES, {"fuse"}, features("virtio"), shipped_fragments())
    assert [group.id for group in space.groups][:2] == ["unused drivers/char", "idle drivers/xen"]
    every = space.wanted([group.id for group in space.groups])
    assert (every["EXT4_FS"], every["TCG_TPM"], every["XEN"]) == ("y", "n", "n")
    assert (every["VIRTIO"], every["FUSE_FS"], every["SOUND"]) == ("y", "m", "n")
    assert every["CRYPTO_MANAGER_DISABLE_TESTS"] == "y"
    assert (every["HZ"], every["RETPOLINE"]) == ("250", "y")
    none = space.wanted([])
    assert (none["TCG_TPM"], none["XEN"], none["CRYPTO_MANAGER_DISABLE_TESTS"]) == ("y", "y", "n")
    assert space.left_out == 1
    assert space.modules == ("fuse",)


def test_a_kept_feature_keeps_its_options_also_where_the_boot_does_not_use_them() -> None:
    unused = {**USES, "EXT4_FS": Use.UNUSED}
    with_it = space_of(CONFIG, unused, FILES, (), features("ext4"), ())
    without_it = space_of(CONFIG, unused, FILES, (), (), ())
    assert [group.id for group in with_it.groups] == ["unused drivers/char", "idle drivers/xen"]
    assert "unused fs/ext4" in [group.id for group in without_it.groups]


def test_the_smallest_space_starts_from_the_features_and_gives_folders_back() -> None:
    space = smallest_space(CONFIG, FILES, features("recording"), shipped_fragments())
    assert [group.id for group in space.groups] == ["drivers/char", "drivers/xen", "fs/ext4"]
    every = space.wanted([group.id for group in space.groups])
    assert every["SERIAL_8250_CONSOLE"] == "y"
    assert every["EXT4_FS"] == "n"
    assert space.wanted(["drivers/char"])["EXT4_FS"] == "y"


def test_features_are_predicates_over_the_configuration() -> None:
    (virtio,) = features("virtio")
    config = dict.fromkeys(virtio.set, "y")
    assert lost_feature([virtio], config, {}) == ""
    assert "`virtio` is lost: `CONFIG_VIRTIO_NET`" in lost_feature([virtio], {**config, "VIRTIO_NET": "m"}, {})
    (mitigations,) = features("mitigations")
    assert lost_feature([mitigations], {}, {"RETPOLINE": "y"}).endswith("`CONFIG_RETPOLINE` is not set")
    assert lost_feature([mitigations], {}, {"RETPOLINE": "n"}) == ""


#: Options that Debian's cloud kernel sets, whose code a boot of the default guest does not call, or whose dependencies
#: unused options are.
PROTECTION = [
    "SYN_COOKIES", "SECURITY_NETWORK_XFRM", "SECURITY_APPARMOR_HASH", "SECURITY_APPARMOR_HASH_DEFAULT",
    "SECURITY_TOMOYO", "KEXEC_SIG", "KEXEC_BZIMAGE_VERIFY_SIG", "SIGNED_PE_FILE_VERIFICATION", "STRICT_DEVMEM",
    "IO_STRICT_DEVMEM", "SCHED_STACK_END_CHECK", "LEGACY_VSYSCALL_NONE", "BPF_UNPRIV_DEFAULT_OFF",
    "SECURITY_DMESG_RESTRICT",
]  # fmt: skip


@pytest.mark.parametrize("option", PROTECTION)
def test_a_protection_is_kept_although_the_boot_does_not_use_it(option: str) -> None:
    (mitigations,) = features("mitigations")
    config = {option: "y", "TCG_TPM": "y"}
    uses = {option: Use.UNUSED, "TCG_TPM": Use.UNUSED}
    files = [*FILES, SourceFile("net/ipv4/protection", (option,), "protection")]
    space = space_of(config, uses, files, (), [mitigations], ())
    assert space.wanted([group.id for group in space.groups])[option] == "y"
    assert f"`CONFIG_{option}` is not set" in lost_feature([mitigations], {}, config)


def test_an_unknown_feature_is_named_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no feature `ext5`"):
        kept_features(["ext5"], smallest=False)
    assert {"recording", "platform", "mitigations"} <= {each.id for each in kept_features([], smallest=False)}
    assert [each.id for each in kept_features([], smallest=True)] == ["recording"]


class Rules:
    """A builder whose rules take every setting, and whose compiler fails for one option."""

    def __init__(self, folder: Path, fails: str = "") -> None:
        self.folder = folder
        self.fails = fails
        self.built: list[dict[str, str]] = []

    def root(self) -> Path:
        return self.folder

    def configure(self, wanted: Mapping[str, str]) -> dict[str, str]:
        return dict(wanted)

    def build(self, config: Mapping[str, str]) -> Path:
        self.built.append(dict(config))
        if self.fails and config.get(self.fails, "n") == "n":
            raise LabError(f"`make bzImage` failed:\nundefined reference to `{self.fails.lower()}`")
        kernel = self.folder / f"vmlinuz-{len(self.built)}"
        kernel.write_text(as_lines(config))
        return kernel


@pytest.fixture
def source(tmp_path: Path) -> Path:
    tree = tmp_path / "linux"
    makefiles = {
        "fs": "obj-$(CONFIG_EXT4_FS) += ext4.o\n",
        "drivers": "obj-$(CONFIG_TCG_TPM) += tpm.o\nobj-$(CONFIG_XEN) += xen.o\n",
        "init": "obj-y := main.o\n",
    }
    for folder, text in makefiles.items():
        (tree / folder).mkdir(parents=True)
        (tree / folder / "Makefile").write_text(text)
    (tree / "fs/ext4.c").write_text("int __init ext4_init_fs(void)\n{\n}\n")
    (tree / "drivers/tpm.c").write_text("static int __init tpm_init(void)\n{\n}\n")
    (tree / "drivers/xen.c").write_text("static int __init xen_start(void)\n{\n}\n")
    (tree / "config").write_text(as_lines({"EXT4_FS": "y", "TCG_TPM": "y", "XEN": "y", "SOUND": "m"}))
    return tree


Boots = Callable[[Path, Sequence[str]], tuple[Measured, Boot | None]]


def booting(unhealthy: str = "") -> Boots:
    """Boots that take as long as the configuration is, and are unhealthy without one option."""

    def boots(kernel: Path, expects: Sequence[str]) -> tuple[Measured, Boot | None]:
        text = kernel.read_text()
        why = "unhealthy: HC-DEV tpm0: gone" if unhealthy and f"CONFIG_{unhealthy}=y" not in text else ""
        return Measured(text.count("=y") * 1000, why), None

    return boots


def search(boot: Boot, tree: Path, builder: Rules, boots: Boots, builds: int = 20):  # type: ignore[no-untyped-def]
    return find_kernel(
        boot, tree / "config", DEFAULT, builder, boots, KernelWish(builds=builds), (), SilentProgress()
    )  # fmt: skip


@pytest.fixture
def boot(invented_boot: Path) -> Boot:
    return firstlight.open(invented_boot)


def test_the_found_kernel_is_a_remedy_with_its_fragment(boot: Boot, source: Path, tmp_path: Path) -> None:
    builder = Rules(source)
    found = search(boot, source, builder, booting())
    assert found.remedy is not None
    assert found.kernel == source / "vmlinuz-1"
    text = found.remedy.change.kconfig.text
    assert "# CONFIG_XEN is not set" in text
    assert "# CONFIG_SOUND is not set" in text
    assert found.search.options_before == 4
    assert found.search.modules_left_out == 1


def test_a_build_that_fails_and_an_unhealthy_boot_are_named_and_the_search_goes_on(boot: Boot, source: Path) -> None:
    found = search(boot, source, Rules(source, fails="XEN"), booting("TCG_TPM"))
    reasons = " / ".join(found.search.restored.values())
    assert "undefined reference to `xen`" in reasons or "HC-DEV tpm0" in reasons
    assert found.remedy is not None
    assert {each.stage for each in found.search.tried} >= {Stage.BUILD, Stage.BOOT}


def test_a_fragment_that_the_facts_of_the_baseline_forbid_is_no_group(boot: Boot, source: Path) -> None:
    fragment = Remedy.model_validate(
        {"id": "config-few", "title": "few", "layer": "kconfig", "risk": "low", "takes-away": "x",
         "change": {"kconfig": {"text": "CONFIG_NR_CPUS=2\n"}}, "facts": {"cpu.count": "[12]"}}
    )  # fmt: skip
    builder = Rules(source)
    (source / "config").write_text(as_lines({"EXT4_FS": "y", "NR_CPUS": "64"}))
    find_kernel(
        boot, source / "config", DEFAULT, builder, booting(), KernelWish(builds=1), [fragment], SilentProgress()
    )
    assert boot.fact_values().get("cpu.count") not in ("1", "2")
    assert builder.built[0]["NR_CPUS"] == "64"


def test_no_shipped_fragment_takes_a_mitigation_or_a_policy_away() -> None:
    for fragment in shipped_fragments():
        assert not any(each.startswith(("HC-VULN", "HC-UNITS", "HC-FS")) for each in fragment.expects)


def test_without_a_kernel_that_counts_there_is_no_remedy(boot: Boot, source: Path) -> None:
    found = search(boot, source, Rules(source, fails="NOTHING_HAS_THIS"), booting())
    assert found.remedy is None
    assert "nothing_has_this" in found.search.trouble


def test_a_fragment_turns_one_configuration_into_the_other() -> None:
    before, after = {"A": "y", "B": "m", "C": "250"}, {"A": "n", "B": "y", "C": "250", "D": "n"}
    fragment = fragment_of(before, after)
    assert {**before, **fragment} == after
