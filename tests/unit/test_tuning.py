"""What `firstlight tune` stores, shows and applies; an invented tuning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstlight.advise.entry import Layer
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.result import HealthOutcome
from firstlight.advise.read import catalogue
from firstlight.advise.tuning.files import files_to_apply
from firstlight.advise.tuning.from_catalogue import remedies_of
from firstlight.advise.tuning.goal import Goal
from firstlight.advise.tuning.kconfig.minimise import Stage
from firstlight.advise.tuning.kconfig.result import KernelSearch, TriedKernel
from firstlight.advise.tuning.remedy import Remedy, combined, read_remedies
from firstlight.advise.tuning.search import SearchStep
from firstlight.advise.tuning.shares import remedy_shares
from firstlight.advise.tuning.tuning import CheckResult, PhaseChange, TriedChoice, Tuning, read_tuning, write_tuning
from firstlight.cli.main import run
from firstlight.errors import FirstlightError
from firstlight.experiment.plan_parser import PlanError

FAST, MASK, BAD = "no-tests", "no-timers", "no-policy"
REMEDIES = [
    {"id": FAST, "title": "no tests", "layer": "cmdline", "change": {"append": "notests=<b>"}, "risk": "low",
     "takes-away": "Tests."},
    {"id": MASK, "title": "no timers", "layer": "rootfs", "mask": ["apt-daily.timer"], "risk": "medium",
     "takes-away": "Updates."},
    {"id": BAD, "title": "no policy", "layer": "cmdline", "change": {"append": "mitigations=off"}, "risk": "high",
     "takes-away": "Protection."},
]  # fmt: skip


def tuning() -> Tuning:
    times = {(): 1_000_000_000, (FAST,): 400_000_000, (MASK,): 1_010_000_000, (FAST, MASK): 350_000_000}
    trials = [TriedChoice(remedies=names, step=SearchStep.ALONE, time_ns=time) for names, time in times.items()]
    trials.append(
        TriedChoice(
            remedies=(BAD,), step=SearchStep.ALONE, time_ns=990_000_000, why="unhealthy: HC-VULN mitigations=off"
        )
    )
    return Tuning(
        recipe="0" * 64,
        command="firstlight record -o a.boot",
        goal=Goal.READY,
        allow=(Layer.CMDLINE, Layer.ROOTFS),
        budget=20,
        complete=True,
        remedies=tuple(Remedy.model_validate(each) for each in REMEDIES),
        trials=tuple(trials),
        kept=(FAST, MASK),
        rejected={BAD: "unhealthy: HC-VULN mitigations=off"},
        shares=remedy_shares((FAST, MASK), lambda choice: times[tuple(sorted(choice))]),
        phases=(
            PhaseChange(phase="firmware", before_ns=150_000_000, after_ns=150_000_000),
            PhaseChange(phase="initcall_late", before_ns=800_000_000, after_ns=150_000_000),
            PhaseChange(phase="userspace", before_ns=50_000_000, after_ns=50_000_000),
        ),
        health=(
            CheckResult(
                id=CheckId.ACTIVE, title="active units", outcome=HealthOutcome.CHANGED, detail="", differences=("x",)
            ),
        ),
    )


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_tuning(tuning(), tmp_path / "tuned")
    return tmp_path / "tuned"


def test_a_tuning_is_read_as_it_was_written(directory: Path) -> None:
    assert read_tuning(directory) == tuning()


def test_the_shares_of_the_kept_remedies_add_up_to_the_change() -> None:
    shares = tuning().shares
    assert shares is not None
    assert sum(each.share_ns or 0 for each in shares.shares) + shares.together_ns == 350_000_000 - 1_000_000_000


def test_the_pareto_list_has_no_boot_that_another_beats() -> None:
    assert [each.remedies for each in tuning().pareto()] == [(FAST, MASK), (FAST,), ()]


def test_show_states_what_was_kept_and_why_the_rest_was_not(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", "show", str(directory)]) == 0
    out = capsys.readouterr().out
    assert "1.000000 s to 350.000 ms: 65.0 % shorter with 2 remedies, healthy" in out
    assert "unhealthy: HC-VULN mitigations=off" in out
    (unchanged, whole) = [line.split() for line in out.splitlines() if line.startswith(("unchanged ", "all  "))][-2:]
    assert unchanged[1:] == ["200.000", "ms", "200.000", "ms", "0", "ns"]
    assert whole[1:] == ["1.000000", "s", "350.000", "ms", "-650.000", "ms"]
    assert run(["tune", "show", str(directory), "--markdown"]) == 0
    assert "### Rejected" in capsys.readouterr().out
    assert run(["tune", "show", str(directory), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["kept"] == [FAST, MASK]


SEARCH = KernelSearch(
    features=("recording", "ext4"),
    smallest=False,
    builds=2,
    complete=False,
    trouble="",
    options_before=2700,
    options_after=900,
    modules_left_out=1000,
    modules_kept=("fuse",),
    without=("TCG_TPM of drivers/char: no function ran",),
    restored={"idle drivers/rtc": "unhealthy: HC-DRIVER device.pnp/00:04: gone (was rtc_cmos)"},
    tried=(
        TriedKernel(groups=9, options=850, stage=Stage.BUILD, time_ns=None, why="`make bzImage` failed"),
        TriedKernel(groups=8, options=900, stage=Stage.BOOT, time_ns=80_000_000),
    ),
)


def test_show_lists_the_kernels_that_were_built_and_why_groups_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    write_tuning(tuning().model_copy(update={"kernel": SEARCH}), tmp_path / "tuned")
    assert read_tuning(tmp_path / "tuned").kernel == SEARCH
    assert run(["tune", "show", str(tmp_path / "tuned")]) == 0
    out = capsys.readouterr().out
    assert "Kernels that were built" in out
    assert "`make bzImage` failed" in out
    assert "The distribution's kernel sets 2,700 options" in " ".join(out.split())
    assert "idle drivers/rtc" in out
    assert "The budget of 2 builds ended" in out
    assert run(["tune", "show", str(tmp_path / "tuned"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["kernel"]["tried"][1]["options"] == 900


def test_show_names_what_was_not_tried_by_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    unable = {"a": "excluded", "b": "the layer `rootfs` is not allowed", "c": "excluded"}
    write_tuning(tuning().model_copy(update={"not_applicable": unable}), tmp_path / "tuned")
    assert run(["tune", "show", str(tmp_path / "tuned")]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "excluded a, c" in rows
    assert "the layer `rootfs` is not allowed b" in rows


def test_the_fragment_of_a_found_kernel_is_a_file_to_apply() -> None:
    kernel = Remedy.model_validate(
        {"id": "kernel-configuration", "title": "a kernel", "layer": "kconfig", "risk": "high", "takes-away": "All.",
         "change": {"kconfig": {"text": "# CONFIG_XEN is not set\n"}}}
    )  # fmt: skip
    found = tuning().model_copy(update={"remedies": (*tuning().remedies, kernel), "kept": (FAST, kernel.id)})
    assert files_to_apply(found)["kernel.config"] == "# CONFIG_XEN is not set\n"


def test_the_page_escapes_everything(directory: Path, tmp_path: Path) -> None:
    page = tmp_path / "tuning.html"
    assert run(["tune", "show", str(directory), "--html", str(page)]) == 0
    text = page.read_text()
    assert "notests=&lt;b&gt;" in text
    assert "notests=<b>" not in text


def test_apply_prints_the_kept_remedies_as_files(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apply", str(directory), "--print"]) == 0
    out = capsys.readouterr().out
    assert "==> command-line <==\nnotests=<b>\n" in out
    assert "==> rootfs/etc/systemd/system/apt-daily.timer <==\nlink: /dev/null\n" in out
    assert "mitigations=off" not in out
    assert run(["apply", str(directory)]) == 2


def test_no_tuning_and_a_damaged_one_are_named(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="there is no tuning here"):
        read_tuning(tmp_path)
    (directory / "tuning.json").write_text("{")
    with pytest.raises(FirstlightError, match="the tuning is damaged"):
        read_tuning(directory)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--budget", "0"], "a budget of 0 boots tries no remedy"),
        (["--budget", "1"], "a budget of 1 boot tries no remedy"),
        (["--goal", "login"], "there is no `login`"),
        (["--smallest"], "features and a kernel source need a search"),
        (["--allow", "kconfig", "--keep", "ext5"], "there is no feature `ext5`"),
        (["--allow", "cmdline,bios"], "there is no `bios`"),
        (["--without", "no-tracef"], "no remedy is called `no-tracef`"),
    ],
)
def test_what_cannot_be_tuned_is_named(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "minimal", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_directory_of_a_result_may_be_called_as_the_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "minimal").mkdir()
    assert run(["tune", "minimal", "--budget", "0"]) == 2
    assert "a budget of 0 boots tries no remedy" in capsys.readouterr().err


def test_a_wrong_key_of_a_recipe_is_named_with_the_right_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.toml").write_text('apend = "quiet"\n')
    assert run(["tune", str(tmp_path / "r.toml")]) == 2
    said = capsys.readouterr().err
    assert "unknown key `apend`" in said
    assert "did you mean `append`?" in said


def test_a_recipe_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "nothing-of-the-kind"]) == 2
    assert "`nothing-of-the-kind` is not a recipe" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[remedy]]\nid = "a"\nrisc = "low"\n', "unknown key `risc`"),
        ('[[remedy]]\nid = "no-tracefs"\ntitle = "t"\nlayer = "cmdline"\nrisk = "low"\ntakes-away = "x"\n'
         'change = { append = "y" }\n', "two remedies `no-tracefs`"),
        ('[[remedy]]\nid = "a"\ntitle = "t"\nlayer = "cmdline"\nrisk = "low"\ntakes-away = "x"\n', "changes nothing"),
        ('[[remedy]]\nid = "a"\ntitle = "t"\nlayer = "cmdline"\nrisk = "low"\ntakes-away = "x"\n'
         'change = { memory = "1G" }\n', "`memory` does not belong to the layer `cmdline`, which changes `append`"),
        ('[[remedy]]\nid = "a"\ntitle = "t"\nlayer = "cmdline"\nrisk = "low"\ntakes-away = "x"\n'
         'change = { guest-command = "sync" }\n', "`guest-command` does not belong to the layer"),
        ('[[remedy]]\nid = "a"\ntitle = "t"\nlayer = "initramfs"\nrisk = "low"\ntakes-away = "x"\n'
         'change = { append = "y" }\n', "which changes `initramfs-files`, `initrd`"),
        ('[[remedy]]\nid = "a"\ntitle = "t"\nlayer = "cmdline"\nrisk = "low"\ntakes-away = "x"\n'
         'change = { guest-comand = "sync" }\n', "unknown key `guest-comand`"),
        ('[[remedy]]\nid = "a"\ntitle = "t"\nlayer = "cmdline"\nrisk = "low"\ntakes-away = "x"\n'
         'change = { append = "y" }\nfacts = { "cpu.count" = "(" }\n', "of `cpu.count` is not a regular expression"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_remedies_is_named(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(PlanError, match=says):
        read_remedies([tmp_path / "own.toml"])


def test_fragments_of_kernel_configuration_add_up() -> None:
    remedies = [
        Remedy.model_validate(
            {"id": name, "title": "t", "layer": "kconfig", "risk": "low", "takes-away": "x",
             "change": {"kconfig": {"text": f"CONFIG_{name.upper()}=n\n"}}}
        )
        for name in ("btf", "ftrace")
    ]  # fmt: skip
    kconfig = combined(remedies).kconfig
    assert kconfig is not None
    assert kconfig.text == "CONFIG_BTF=n\nCONFIG_FTRACE=n\n"


def test_a_remedy_applies_where_the_facts_of_the_baseline_allow_it() -> None:
    known = {each.id: each for each in read_remedies().remedy}
    one = {"cpu.count": "1"}
    assert known["no-apic-timer"].unfit(one) == ""
    assert known["keep-lock-prefixes"].unfit({"cpu.count": "16"}) == "`cpu.count` is 16, not 1"
    assert known["no-apic-timer"].unfit({}) == "the baseline does not say `cpu.count`"
    assert known["quiet"].unfit({}) == ""


@pytest.mark.parametrize(
    ("total", "available", "why"),
    [
        (1024, 924, ""),
        (1024, 833, ""),
        (1024, 831, "the baseline uses 193 MiB of memory, and a quarter of 256 MiB must stay free"),
        (256, 200, "the baseline has no more than 256 MiB of memory"),
        (None, 200, "the baseline does not state how much memory it uses"),
        (1024, None, "the baseline does not state how much memory it uses"),
    ],
)
def test_less_memory_is_tried_where_the_baseline_leaves_enough(
    total: int | None, available: int | None, why: str
) -> None:
    sizes = {"memory.total_bytes": total, "memory.available_bytes": available}
    facts = {name: str(size << 20) for name, size in sizes.items() if size is not None}
    (less,) = [each for each in read_remedies().remedy if each.change.memory == "256M"]
    assert less.unfit(facts) == why


def test_no_shipped_remedy_weakens_the_policy_without_being_rejected() -> None:
    for remedy in read_remedies().remedy:
        assert not any(each.startswith(("HC-VULN", "HC-POLICY", "HC-UNITS", "HC-FS")) for each in remedy.expects)


def test_the_catalogue_of_explain_gives_remedies_with_the_facts_of_the_boot() -> None:
    facts = {"kernel.lpj": "4000000"}
    remedies = [each for entry in catalogue().entries for each in remedies_of(entry, facts)]
    assert len({each.id for each in remedies}) == len(remedies)
    assert "lpj=4000000" in [each.change.append for each in remedies]
    assert not any("{" in each.change.append for each in remedies)
