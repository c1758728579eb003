"""Known causes in boots: each kind of evidence is seen where it is and not elsewhere, and each cause has its price."""

from __future__ import annotations

import lzma
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from answers import data_of_answer
from bundles import make_bundle
from firstlight.advise.apply import with_remedy
from firstlight.advise.contexts import common, merged, without
from firstlight.advise.entry import EntryEvidence, Remedy
from firstlight.advise.evidence import see
from firstlight.advise.findings import find
from firstlight.advise.observed import Observed
from firstlight.advise.price import Cost, price, shared_ns
from firstlight.advise.prove import proof_of
from firstlight.advise.read import parse
from firstlight.cli.main import run
from firstlight.quantities import time_text
from firstlight.recipe.options import RecordOptions
from firstlight.render.views.explain import finding_report, remedy_text
from imported_bundle import Spans, make_imported, write_bundle
from invented_processes import make_processes

CONFIG = "CONFIG_PCI=y\n# CONFIG_LEGACY_PTYS is not set\nCONFIG_BLK_DEV_LOOP_MIN_COUNT=8\n"


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    """A recorded boot with a profile."""
    return Observed(firstlight.open(make_bundle(tmp_path_factory.mktemp("exact"), append="quiet lpj=4000")))


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    """A recorded boot whose processes were followed."""
    return Observed(firstlight.open(make_processes(tmp_path_factory.mktemp("processes"))))


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    """A boot of logs."""
    facts = {"kernel.config": CONFIG, "package.plymouth": "0.9"}
    return Observed(firstlight.open(make_imported(tmp_path_factory.mktemp("imported"), more_facts=facts)))


IN_LOGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "initcall": ({"initcall": "^core_start$", "least": "1 ms"}, {"initcall": "^core_start$", "least": "10 s"}),
    "unit": ({"unit": r"\.service$"}, {"unit": r"^no-such\.service$"}),
    "one unit": ({"unit": r"\.service$", "single": True}, {"unit": r"^no-such", "single": True}),
    "failed unit": ({"unit": "^broken", "state": "failed"}, {"unit": "^systemd-", "state": "failed"}),
    "gap": ({"gap": "link is slow to respond", "least": "100 ms"}, {"gap": "link is slow to respond", "least": "1 s"}),
    "gap until": ({"gap": "^Linux version", "until": "systemd 252"}, {"gap": "^Linux version", "until": "never said"}),
    "log": ({"log": "please be patient"}, {"log": "please be quick"}),
    "log often": ({"log": "core_start", "count": 2}, {"log": "core_start", "count": 3}),
    "log late": ({"log": "please be patient", "after": "1 s"}, {"log": "please be patient", "after": "2 s"}),
    "devices": ({"devices": "^pci/"}, {"devices": "^pci/", "count": 50}),
    "fact": ({"fact": "^systemd.failed$", "value": "broken"}, {"fact": "^systemd.failed$", "value": "^$"}),
    "kconfig": ({"kconfig": "CONFIG_PCI"}, {"kconfig": "CONFIG_LEGACY_PTYS"}),
    "kconfig value": (
        {"kconfig": "CONFIG_BLK_DEV_LOOP_MIN_COUNT", "value": "^[1-9]"},
        {"kconfig": "CONFIG_BLK_DEV_LOOP_MIN_COUNT", "value": "^0$"},
    ),
    "word": ({"word": "initcall_debug"}, {"word": "initcall"}),
    "word's figure": ({"word": r"loglevel=(\d+)", "above": 7}, {"word": r"loglevel=(\d+)", "above": 8}),
    "package": ({"package": "^plymouth$"}, {"package": "^cloud-init$"}),
}


@pytest.mark.parametrize("kind", IN_LOGS)
def test_evidence_in_logs_is_seen_where_it_is_and_not_elsewhere(kind: str, imported: Observed) -> None:
    there, not_there = IN_LOGS[kind]
    assert see(imported, EntryEvidence(**there)) is not None
    assert see(imported, EntryEvidence(**not_there)) is None


def test_a_function_is_seen_by_its_share_its_time_its_calls_and_its_callers(exact: Observed) -> None:
    table = exact.boot.functions().filter(pl.col("kind") == "function").sort("total_ns", descending=True)
    name, calls, total = table.select("function", "count", "total_ns").row(0)
    seen = see(exact, EntryEvidence(functions=(name,), least=f"{total} ns", count=1))
    assert seen is not None
    assert name in seen.text
    assert see(exact, EntryEvidence(functions=(name,), least=f"{exact.whole_ns} ns")) is None
    assert see(exact, EntryEvidence(functions=(name,), share="100 %")) is None
    assert see(exact, EntryEvidence(functions=(name,), count=calls + 1)) is None
    assert see(exact, EntryEvidence(functions=(name,), under="no_such_function")) is None
    assert see(exact, EntryEvidence(functions=("no_such_function",))) is None
    assert see(exact, EntryEvidence(functions=(f"{name[:4]}*",), least=f"{total} ns")) is not None
    assert see(exact, EntryEvidence(functions=("no_such_*",))) is None


def test_a_process_is_seen_by_its_program_and_its_parent(processes: Observed) -> None:
    images = [each for each in processes.processes if each["image"] and each["parent"] is not None]
    image = images[-1]["image"]
    assert see(processes, EntryEvidence(process=f"^{image}$")) is not None
    assert see(processes, EntryEvidence(process=f"^{image}$", count=500)) is None
    assert see(processes, EntryEvidence(process=f"^{image}$", under="no such parent")) is None
    assert see(processes, EntryEvidence(process="^/no/such/program$")) is None


def test_a_system_call_is_seen_by_its_name_its_process_and_its_path(processes: Observed) -> None:
    name = processes.calls["name"][0]
    assert see(processes, EntryEvidence(call=f"^{name}$")) is not None
    assert see(processes, EntryEvidence(call="^no_such_call$")) is None
    assert see(processes, EntryEvidence(call=f"^{name}$", by="^/no/such/program$")) is None
    assert see(processes, EntryEvidence(call=f"^{name}$", path="^/no/such/path$")) is None


def test_only_what_delays_take_beyond_the_true_setting_counts(exact: Observed) -> None:
    name, total = longest(whole(exact))
    item = EntryEvidence(functions=(name,), beyond="lpj")
    for preset, true, part in (("4000", 1000, 0.75), ("4000", 4000, None), ("4000", None, None), ("", 1000, None)):
        boot = Observed(exact.boot)
        boot.facts, boot.true_lpj = {"kernel.lpj": preset}, true
        seen = see(boot, item)
        assert (None if seen is None else price(boot, seen.held)) == (
            None if part is None else Cost(round(part * total), 0, 0, is_exact=False)
        )


@pytest.mark.parametrize(
    ("config", "true"), [({"CONFIG_HZ": "250"}, 2_000_000), ({}, None), ({"CONFIG_HZ": "x"}, None)]
)
def test_the_true_loops_per_jiffy_follow_from_the_clock_and_the_ticks(
    config: dict[str, str], true: int | None, exact: Observed
) -> None:
    boot = Observed(exact.boot)
    boot.kconfig = config
    assert boot.true_lpj == true


def test_what_functions_execute_themselves_counts_alone(exact: Observed) -> None:
    table = exact.boot.functions().filter((pl.col("kind") == "function") & (pl.col("self_ns") < pl.col("total_ns")))
    name, own = table.sort("self_ns", descending=True).select("function", "self_ns").row(0)
    seen = see(exact, EntryEvidence(functions=(name,), alone=True))
    assert seen is not None
    assert price(exact, seen.held).ns == own


def test_the_part_of_some_devices_counts(exact: Observed) -> None:
    name, total = longest(whole(exact))
    boot = Observed(exact.boot)
    boot.devices = ("acpi/device:00", "acpi/PNP0A03:00", "acpi/PNP0C0F:00", "acpi/PNP0C0F:01", "pci/device:01")
    seen = see(boot, EntryEvidence(functions=(name,), part=("^acpi/device:", "^acpi/")))
    assert seen is not None
    assert price(boot, seen.held).ns == round(total / 4)
    assert "1 of 4 devices" in seen.text
    every = see(boot, EntryEvidence(functions=(name,)))
    assert every is not None
    assert price(boot, every.held | seen.held).ns == total
    assert shared_ns(boot, every.held, seen.held) == round(total / 4)
    assert see(boot, EntryEvidence(functions=(name,), part=("^usb/", "^acpi/"))) is None


@pytest.mark.parametrize(
    ("item", "ns"),
    [
        ({"call": "^openat$", "by": "udevadm", "then": "^read$"}, 13_000),
        ({"call": "^openat$", "then": "^read$"}, 13_000 + 2_400),
        ({"call": "^openat$", "then": "^read$", "count": 3}, None),
        ({"call": "^openat$", "by": "udevadm", "then": "^newfstatat$"}, None),
        ({"call": "^read$", "by": "udevadm", "loop": "^read$"}, 11_000),
        ({"call": "^openat$", "by": "udevadm", "loop": "^read$"}, None),
        ({"call": "^openat$", "by": "udevadm", "loop": "^(execve|read)$"}, 50_000 + 4_000),
    ],
)
def test_what_a_thread_executes_between_its_calls_counts(
    item: dict[str, Any], ns: int | None, processes: Observed
) -> None:
    seen = see(processes, EntryEvidence(**item))
    assert (None if seen is None else price(processes, seen.held).ns) == ns


def test_evidence_that_a_record_cannot_have_is_not_seen(imported: Observed, exact: Observed) -> None:
    assert see(imported, EntryEvidence(functions=("start_kernel",))) is None
    assert see(exact, EntryEvidence(kconfig="CONFIG_PCI")) is None
    assert see(imported, EntryEvidence(process="init")) is None


MINE = """
[[entry]]
id = "MY-01"
title = "the first cause"
nature = "work"
mechanism = "Something happens at every start. It takes its time."
any = [{ functions = ["NAME"] }]
remedies = [{ layer = "cmdline", words = "my.off" }]
effect = "3 ms"
source = "a measurement"
risk = "None."
checks = ["HC-DMESG"]

[[entry]]
id = "MY-02"
title = "the same time seen otherwise"
nature = "wait"
mechanism = "Something happens at every start. It takes its time."
any = [{ functions = ["NAME"] }, { functions = ["start_kernel"] }]
none = [{ word = "GUARD" }]
remedies = [{ layer = "machine", by_hand = "do it" }]
effect = "3 ms"
source = "a measurement"
risk = "None."
checks = ["HC-DMESG"]
"""


def whole(observed: Observed) -> firstlight.Boot:
    """The boot as users have it."""
    return firstlight.open(observed.boot.directory)


def longest(boot: firstlight.Boot) -> tuple[str, int]:
    """The function with the largest total beside the first one, and that total."""
    table = boot.functions().filter((pl.col("kind") == "function") & (pl.col("function") != "start_kernel"))
    name, total = table.sort("total_ns", descending=True).select("function", "total_ns").row(0)
    return str(name), int(total)


def mine(place: Path, name: str, guard: str = "no_such_word") -> Path:
    """A directory with two entries that a function's time is evidence of."""
    place.mkdir()
    (place / "mine.toml").write_text(MINE.replace("NAME", name).replace("GUARD", guard), encoding="utf-8")
    return place


def test_a_cause_costs_what_its_functions_took_and_says_with_which_it_shares(exact: Observed, tmp_path: Path) -> None:
    name, total = longest(firstlight.open(exact.boot.directory))
    found = firstlight.open(exact.boot.directory).explain(catalogue=[mine(tmp_path / "mine", name)])
    first, second = (found.finding(id) for id in ("MY-01", "MY-02"))
    assert first is not None
    assert first.cost.ns == total
    assert first.cost.ns <= found.whole_ns
    assert second is not None
    assert [each.entry for each in first.shares] == ["MY-02"]
    ranked = [each.own_ns for each in found.findings]
    assert ranked == sorted(ranked, reverse=True)


def general(place: Path, names: tuple[str, str], share: str, more: str = "") -> Path:
    """A directory with a general entry, and one for a function below its own."""
    own = mine(place, names[0])
    text = (own / "mine.toml").read_text(encoding="utf-8").split("[[entry]]")
    one = (
        text[1]
        .replace(f'"{names[0]}"]', f'"{names[0]}"], share = "{share}"')
        .replace("nature", f"{more}\ngeneral = true\nnature")
    )
    other = text[1].replace(names[0], names[1]).replace("MY-01", "MY-02")
    (own / "mine.toml").write_text(f"[[entry]]{one}[[entry]]{other}", encoding="utf-8")
    return own


def test_a_general_cause_is_ranked_and_judged_by_what_more_special_ones_leave(exact: Observed, tmp_path: Path) -> None:
    names = ("kernel_init", longest(whole(exact))[0])
    found = whole(exact).explain(catalogue=[general(tmp_path / "a", names, "0.1 %")])
    most, special = found.finding("MY-01"), found.finding("MY-02")
    assert most is not None
    assert special is not None
    assert most.special_ns == special.cost.ns
    assert most.own_ns == most.cost.system_ns - special.cost.ns
    ranked = [each.own_ns for each in found.findings]
    assert ranked == sorted(ranked, reverse=True)
    assert any("more specific causes do not explain" in str(line) for line in finding_report(exact.boot, found, most))
    limit = 100 * (most.cost.ns - special.cost.ns / 2) / found.whole_ns
    found = whole(exact).explain(catalogue=[general(tmp_path / "b", names, f"{limit:.6f} %")])
    assert found.finding("MY-01") is None
    assert found.finding("MY-02") is not None


def test_more_evidence_counts_where_it_is_and_need_not_be(exact: Observed, tmp_path: Path) -> None:
    name, total = longest(whole(exact))
    alone = see(exact, EntryEvidence(functions=("start_kernel",)))
    assert alone is not None
    for more, ns in (("no_such_function", 0), (name, total)):
        own = mine(tmp_path / more, "start_kernel")
        text = (own / "mine.toml").read_text(encoding="utf-8").split("[[entry]]")[1]
        text = text.replace("nature", f'more = [{{ functions = ["{more}"] }}]\nnature')
        (own / "mine.toml").write_text(f"[[entry]]{text}", encoding="utf-8")
        finding = whole(exact).explain(catalogue=[own]).finding("MY-01")
        assert finding is not None
        assert finding.cost.ns == price(exact, alone.held).ns + ns


def test_stretches_are_compared_as_sets_of_their_places() -> None:
    chosen = random.Random(1)
    for _ in range(300):
        one, other = (merged(_stretches(chosen)) for _ in range(2))
        places, others = _places(one), _places(other)
        assert _places(common(one, other)) == places & others
        assert _places(without(one, other)) == places - others


def _stretches(chosen: random.Random) -> list[tuple[int, int]]:
    lows = [chosen.randrange(60) for _ in range(chosen.randrange(8))]
    return [(low, low + chosen.randrange(1, 9)) for low in lows]


def _places(stretches: tuple[tuple[int, int], ...]) -> set[int]:
    return {place for low, high in stretches for place in range(low, high)}


def test_a_guard_that_is_seen_hides_its_entry(exact: Observed, tmp_path: Path) -> None:
    found = firstlight.open(exact.boot.directory).explain(
        catalogue=[mine(tmp_path / "mine", "start_kernel", exact.words[0])]
    )
    assert found.finding("MY-01") is not None
    assert found.finding("MY-02") is None


def test_a_boot_of_logs_is_priced_by_its_critical_path(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("initcall", "slow_driver_init", (100, 900), track="task 1", level="device")
    log = [(100, "Waiting for root device /dev/sda1...", 6), (600, "EXT4-fs (sda1): mounted filesystem", 6)]
    bundle = write_bundle(
        tmp_path, "a.boot", spans=Spans(), log=log, marks={"kernel_start": 0, "ready": 1000}, length=1000
    )
    finding = firstlight.open(bundle).explain().finding("STO-01a")
    assert finding is not None
    assert finding.cost.ns == 500_000_000
    assert finding.certainty == "estimated"
    assert spans.rows


def test_explain_prints_the_ranked_causes_and_one_with_its_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, own = make_bundle(tmp_path), mine(tmp_path / "mine", "start_kernel")
    assert run(["explain", str(bundle), "--catalogue", str(own)]) == 0
    printed = capsys.readouterr().out
    assert "MY-01" in printed
    assert "the first cause" in printed
    assert run(["explain", str(bundle), "my-01", "--catalogue", str(own)]) == 0
    printed = capsys.readouterr().out
    assert "Evidence in this boot" in printed
    assert "`start_kernel`" in printed


def test_explain_says_what_the_remedy_of_a_cause_is_expected_to_save(
    exact: Observed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, total = longest(firstlight.open(exact.boot.directory))
    assert run(["explain", str(exact.boot.directory), "--catalogue", str(mine(tmp_path / "mine", name))]) == 0
    assert f"gain    up to {time_text(total)} here; known effect: " in capsys.readouterr().out


def test_explain_says_of_an_entry_that_the_boot_does_not_show_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = make_bundle(tmp_path)
    assert run(["explain", str(bundle), "DM-05"]) == 0
    assert "does not show" in capsys.readouterr().out
    assert run(["explain", str(bundle), "XX-99"]) == 2


def test_a_cause_of_the_machine_is_shown_however_little_it_costs(
    exact: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [each.entry.id for each in whole(exact).explain().machine] == ["CAL-03"]
    monkeypatch.setattr("firstlight.advise.findings.LEAST_SHARE", 1.1)
    found = whole(exact).explain()
    assert found.machine == ()
    finding = found.finding("CAL-03")
    assert finding is not None
    assert any("takes less than" in str(line) for line in finding_report(exact.boot, found, finding))


def test_explain_gives_the_same_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_bundle(tmp_path)
    own = mine(tmp_path / "mine", longest(firstlight.open(bundle))[0])
    assert run(["explain", str(bundle), "--json", "--catalogue", str(own)]) == 0
    data = data_of_answer(capsys.readouterr().out)
    assert data["findings"][0]["cost_ns"] > 0
    assert data["findings"][0]["evidence"][0]["kind"] == "functions"
    assert run(["explain", str(bundle), "MY-01", "--json", "--catalogue", str(own)]) == 0
    one = data_of_answer(capsys.readouterr().out)
    assert one["finding"]["entry"] == one["entry"]["id"] == "MY-01"


def test_hostile_names_do_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bundle in (make_bundle(tmp_path, hostile=True), make_imported(tmp_path, hostile=True)):
        assert run(["explain", str(bundle)]) == 0
        assert "\x1b]0;" not in capsys.readouterr().out


REMEDIES: dict[str, tuple[Remedy, dict[str, Any], dict[str, Any]]] = {
    "words are added": (Remedy(layer="cmdline", words="lpj={kernel.lpj}"), {"append": "quiet"},
                        {"append": "quiet lpj=4000"}),
    "words are removed": (Remedy(layer="cmdline", without=(r"boot_delay=\d+",)), {"append": "boot_delay=5 quiet"},
                          {"append": "quiet"}),
    "the machine is another": (Remedy(layer="machine", memory="512M"), {"memory": "4G"}, {"memory": "512M"}),
    "devices are removed": (Remedy(layer="machine", without_options=("-device pcie-root-port.*",)),
                            {"qemu_options": ("-device pcie-root-port,id=a", "-device pvpanic")},
                            {"qemu_options": ("-device pvpanic",)}),
}  # fmt: skip


@pytest.mark.parametrize("what", REMEDIES)
def test_a_remedy_is_a_difference_of_recipes(what: str, tmp_path: Path) -> None:
    remedy, before, after = REMEDIES[what]
    options = RecordOptions(output=tmp_path / "a.boot", **before)
    changed = with_remedy(options, remedy, {"kernel.lpj": "4000"}, tmp_path)
    assert {name: getattr(changed, name) for name in after} == after


def test_masked_units_and_files_are_laid_over_the_root(tmp_path: Path) -> None:
    options = RecordOptions(output=tmp_path / "a.boot", rootfs="debian")
    changed = with_remedy(options, Remedy(layer="rootfs", mask=("a.service",)), {}, tmp_path)
    assert changed.overlay is not None
    assert (changed.overlay / "etc/systemd/system/a.service").readlink() == Path("/dev/null")


def test_an_initramfs_is_packed_anew(tmp_path: Path) -> None:
    packed = tmp_path / "initrd.xz"
    packed.write_bytes(lzma.compress(b"070701 an archive", check=lzma.CHECK_CRC32))
    options = RecordOptions(output=tmp_path / "a.boot", initrd=packed)
    changed = with_remedy(options, Remedy(layer="initramfs", compression="none"), {}, tmp_path)
    assert changed.initrd is not None
    assert changed.initrd.read_bytes() == b"070701 an archive"


@pytest.mark.parametrize(("gain", "proof"), [(95, "proved"), (40, "partly proved"), (0, "refuted"), (-5, "refuted")])
def test_a_trial_proves_or_refutes_by_its_gain(gain: int, proof: str) -> None:
    assert proof_of(100, gain) == proof


def test_facts_of_the_boot_are_in_the_advice_and_a_fact_that_is_missing_is_named(tmp_path: Path) -> None:
    text = """
[[entry]]
id = "MY-01"
title = "a cause of mine"
nature = "work"
mechanism = "Something happens at every start. It takes its time."
any = [{ fact = "^kernel.release$" }]
remedies = [{ layer = "cmdline", words = "lpj={kernel.lpj}" }]
effect = "3 ms"
source = "a measurement"
risk = "None."
"""
    (entry,) = parse(text, "mine.toml")
    for facts, advice in (
        ({"kernel.lpj": "4000"}, "add `lpj=4000`"),
        ({}, "add `lpj={kernel.lpj}` with the value of `kernel.lpj` in the boot"),
    ):
        place = tmp_path / str(len(facts))
        place.mkdir()
        bundle = make_imported(place, more_facts={"kernel.release": "6.1", **facts})
        found = find(Observed(firstlight.open(bundle)), entry)
        assert found is not None
        assert remedy_text(found.remedy) == advice


def test_a_boot_of_logs_cannot_be_tried(imported: Observed) -> None:
    boot = firstlight.open(imported.boot.directory)
    findings = boot.explain().findings
    assert {each.proof for each in boot.prove(findings)} <= {"not tried"}


def test_a_remedy_by_hand_is_not_applied(tmp_path: Path) -> None:
    options = RecordOptions(output=tmp_path / "a.boot")
    with pytest.raises(firstlight.UsageError, match="by hand"):
        with_remedy(options, Remedy(layer="machine", by_hand="replace the disk"), {}, tmp_path)
