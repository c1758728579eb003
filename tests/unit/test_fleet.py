"""A fleet on disk: boots come in once, whole, without what tells one machine from another, and go again."""

from __future__ import annotations

import json
import shutil
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ibis
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import firstlight
from bundles import HOSTILE, make_bundle
from firstlight.cache import file_digest
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, UsageError
from firstlight.fleet.conditions import matching, read_conditions, where
from firstlight.fleet.files import read_boots, read_spans
from firstlight.fleet.layout import open_fleet
from firstlight.fleet.masking import masked
from invented_fleet import Group, make_fleet

LOG = """\
[    0.000000] Linux version 6.12.1-test (a@b) #7 SMP
[    0.500000] calling  gizmo_init+0x0/0x10 @ 1
[    0.700000] initcall gizmo_init+0x0/0x10 returned 0 after 200000 usecs
[    1.000000] Freeing unused kernel memory: 100K
[    1.100000] Run /init as init process
[    2.000000] systemd[1]: Hostname set to <web01.example.org>.
[    3.000000] systemd[1]: Startup finished in 1.100s (kernel) + 1.900s (userspace) = 3.000s.
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    return firstlight.init_fleet(tmp_path / "fleet").directory


def boots_of(fleet: Path) -> pl.DataFrame:
    opened = open_fleet(fleet)
    return read_boots(opened, opened.listing().boots)


def spans_of(fleet: Path) -> pl.DataFrame:
    opened = open_fleet(fleet)
    return read_spans(opened, opened.listing().spans)


def test_a_boot_is_added_once(fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boot = str(make_bundle(tmp_path))
    assert run(["fleet", "add", str(fleet), boot, "--set", "model=A"]) == 0
    assert run(["fleet", "add", str(fleet), boot, boot, "--set", "model=B"]) == 0
    assert "0 added, 2 were already in it" in capsys.readouterr().out
    boots = boots_of(fleet)
    assert boots.select("model", "mode", "status").rows() == [("A", "exact", "complete")]
    known = firstlight.open(boot)
    assert boots["total_ns"].to_list() == [829_882_107]
    phases = spans_of(fleet).filter(pl.col("kind") == "phase")
    assert phases["duration_ns"].sum() == known.phases()["duration_ns"].sum()


def test_boots_come_from_directories_archives_and_logs(fleet: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    (given / "deep" / "er").mkdir(parents=True)
    make_bundle(given / "deep" / "er", seed=1)
    make_bundle(given, name="b.boot", seed=2)
    (given / "dmesg.txt").write_text(LOG)
    with tarfile.open(tmp_path / "more.tar.gz", "w:gz") as archive:
        archive.add(make_bundle(tmp_path, name="c.boot", seed=3), "c.boot")
    done = firstlight.add_to_fleet(fleet, [given, tmp_path / "more.tar.gz"])
    assert (done.added, done.known, done.quarantined) == (4, 0, [])
    imported = boots_of(fleet).filter(pl.col("mode") == "imported")
    assert imported["kernel"].to_list() == ["6.12.1-test"]
    initcalls = spans_of(fleet).filter(pl.col("name") == "gizmo_init")
    assert initcalls["duration_ns"].to_list() == [200_000_000]


def test_a_log_under_another_name_or_with_other_ends_of_lines_is_the_same_boot(fleet: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "a.log").write_text(LOG)
    (given / "b.txt").write_text(LOG)
    (given / "c.log").write_bytes(LOG.replace("\n", "\r\n").encode())
    (given / "d.log").write_text(LOG.replace("gizmo", "other"))
    done = firstlight.add_to_fleet(fleet, [given])
    assert (done.added, done.known, done.quarantined) == (2, 2, [])
    done = firstlight.add_to_fleet(fleet, [given / "c.log", given / "b.txt"])
    assert (done.added, done.known) == (0, 2)
    assert set(boots_of(fleet)["digest"]) == set(spans_digests(fleet))


def spans_digests(fleet: Path) -> list[str]:
    """The digests of the boots that have parts."""
    return boots_of(fleet).join(spans_of(fleet), on="boot", how="semi")["digest"].to_list()


def test_boots_of_a_fleet_that_knows_them_by_their_manifests_are_not_added_again(fleet: Path, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LOG)
    boot = tmp_path / "a.boot"
    firstlight.import_(tmp_path / "a.log", output=boot)
    firstlight.add_to_fleet(fleet, [boot])
    # As such a fleet has it.
    [path] = (fleet / "boots").glob("*.parquet")
    digest = file_digest(boot / "manifest.json")
    pl.read_parquet(path).with_columns(pl.lit(digest).alias("digest")).write_parquet(path)
    done = firstlight.add_to_fleet(fleet, [boot, boot])
    assert (done.added, done.known) == (0, 2)
    assert boots_of(fleet)["digest"].to_list() == [digest]


def test_what_cannot_be_read_is_noted_and_left_out(fleet: Path, tmp_path: Path) -> None:
    damaged = make_bundle(tmp_path, name="damaged.boot")
    (damaged / "spans.parquet").write_bytes(b"PAR1 no more")
    sound = make_bundle(tmp_path, name="sound.boot", seed=2)
    done = firstlight.add_to_fleet(fleet, [damaged, sound])
    assert done.added == 1
    [(where, why)] = done.quarantined
    assert where == str(damaged)
    assert why
    [note] = (fleet / "quarantine").glob("*.json")
    assert json.loads(note.read_text())["name"] == "damaged.boot"


def test_a_damaged_copy_does_not_hide_the_intact_one(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    damaged = make_bundle(given, name="a.boot")
    (damaged / "spans.parquet").write_bytes(b"PAR1 no more")
    assert run(["fleet", "add", str(fleet), str(damaged), str(damaged)]) == 1
    make_bundle(given, name="b.boot")
    make_bundle(given, name="c.boot")
    assert run(["fleet", "add", str(fleet), str(given)]) == 0
    assert "1 added, 1 was already in it" in capsys.readouterr().out
    assert boots_of(fleet).height == 1


def test_an_archive_of_logs_is_added_as_a_directory_of_them(fleet: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "few.tgz", "w:gz") as archive:
        for number in range(3):
            log = tmp_path / f"{number}.log"
            log.write_text(LOG.replace("web01", f"web0{number}").replace("0.700", f"0.70{number}"))
            archive.add(log, log.name)
    done = firstlight.add_to_fleet(fleet, [tmp_path / "few.tgz"])
    assert (done.added, done.quarantined) == (3, [])


def test_notes_quote_no_host_names(fleet: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "sos.tgz", "w:gz") as archive:
        for number in range(2):
            log = tmp_path / f"{number}.log"
            log.write_text(LOG.replace("web01", f"web0{number}"))
            archive.add(log, f"sos_commands/{log.name}")
    done = firstlight.add_to_fleet(fleet, [tmp_path / "sos.tgz"])
    [(_, why)] = done.quarantined
    assert "web01" in why
    [note] = (fleet / "quarantine").glob("*.json")
    assert json.loads(note.read_text())["reason"] == "the records are of several machines"


def test_an_archive_cannot_write_outside(fleet: Path, tmp_path: Path) -> None:
    boot = make_bundle(tmp_path)
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        archive.add(boot / "manifest.json", "../escaped.boot/manifest.json")
    done = firstlight.add_to_fleet(fleet, [tmp_path / "evil.tar"])
    assert done.added == 0
    assert "cannot be unpacked" in done.quarantined[0][1]
    assert not list(tmp_path.rglob("escaped.boot"))


def test_writers_at_the_same_time_lose_and_double_nothing(fleet: Path, tmp_path: Path) -> None:
    boots = [make_bundle(tmp_path, name=f"{seed}.boot", seed=seed) for seed in range(6)]
    shared = boots[0]
    with ThreadPoolExecutor(6) as writers:
        done = list(writers.map(lambda boot: firstlight.add_to_fleet(fleet, [boot, shared]), boots))
        list(writers.map(lambda _: firstlight.compact_fleet(fleet), range(4)))
    assert sum(each.added for each in done) == 6
    assert boots_of(fleet)["digest"].n_unique() == boots_of(fleet).height == 6
    assert spans_of(fleet)["boot"].n_unique() == 6


def test_compaction_merges_files_and_removes_what_a_killed_writer_left(fleet: Path, tmp_path: Path) -> None:
    for seed in range(3):
        firstlight.add_to_fleet(fleet, [make_bundle(tmp_path, name=f"{seed}.boot", seed=seed)])
    before = spans_of(fleet).sort("boot", "kind", "name")
    stray = fleet / "boots" / f"{'0' * 32}.parquet"
    shutil.copy(next((fleet / "boots").iterdir()), stray)
    assert boots_of(fleet).height == 3
    done = firstlight.compact_fleet(fleet)
    assert (done.files_before, done.files_after, done.removed, done.former) == (6, 2, 1, 6)
    assert not stray.exists()
    assert spans_of(fleet).sort("boot", "kind", "name").equals(before)
    done = firstlight.compact_fleet(fleet)
    assert (done.files_after, done.removed, done.former) == (2, 6, 0)


def test_forgotten_boots_are_in_no_file(fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(3):
        boot = make_bundle(tmp_path, name=f"{seed}.boot", seed=seed)
        firstlight.add_to_fleet(fleet, [boot], {"serial": f"s{seed}"})
    gone = boots_of(fleet).filter(pl.col("serial") == "s1")["boot"].item()
    assert run(["fleet", "forget", str(fleet), "--where", 'serial = "s1"']) == 0
    assert "1 boot deleted" in capsys.readouterr().out
    assert boots_of(fleet)["serial"].to_list() == ["s0", "s2"] or set(boots_of(fleet)["serial"]) == {"s0", "s2"}
    for path in fleet.rglob("*.parquet"):
        assert gone not in pl.read_parquet(path)["boot"].to_list()


def test_forgotten_boots_are_in_no_file_that_a_compaction_kept_and_in_no_note(fleet: Path, tmp_path: Path) -> None:
    damaged = make_bundle(tmp_path, name="damaged.boot", seed=9)
    (damaged / "spans.parquet").write_bytes(b"PAR1 no more")
    for seed in range(2):
        boot = make_bundle(tmp_path, name=f"{seed}.boot", seed=seed)
        firstlight.add_to_fleet(fleet, [boot, damaged], {"device": f"s{seed}"})
    gone = boots_of(fleet).filter(pl.col("device") == "s1")["boot"].item()
    firstlight.compact_fleet(fleet)
    assert firstlight.forget_boots(fleet, 'device = "s1"') == 1
    files = [path for folder in ("boots", "spans") for path in (fleet / folder).rglob("*.parquet")]
    assert len(files) == 2
    assert all(gone not in pl.read_parquet(path)["boot"].to_list() for path in files)
    [note] = (fleet / "quarantine").glob("*.json")
    assert json.loads(note.read_text())["attributes"] == {"device": "s0"}


SIGNS = st.text("Ab_%*.\\^$[( \n", max_size=6)


@given(values=st.lists(SIGNS, min_size=1, max_size=8), pattern=SIGNS.filter(lambda text: "\n" not in text))
def test_a_deletion_and_a_question_choose_the_same_boots(values: list[str], pattern: str) -> None:
    frame = pl.DataFrame({"boot": range(len(values)), "model": values})
    text = f'model ~ "{pattern}"'
    asked = ibis.duckdb.connect().to_polars(where(ibis.memtable(frame.to_arrow()), read_conditions(text, ["model"])))
    assert sorted(asked["boot"]) == matching(frame, text)["boot"].to_list()


def test_signs_of_patterns_in_a_value_are_themselves(fleet: Path, tmp_path: Path) -> None:
    for seed, model in enumerate(("A_1", "AB1")):
        boot = make_bundle(tmp_path, name=f"{seed}.boot", seed=seed)
        firstlight.add_to_fleet(fleet, [boot], {"model": model})
    assert firstlight.ask_fleet(fleet, "phases", where='model ~ "A_*"').boots == 1
    assert firstlight.forget_boots(fleet, 'model ~ "A_*"') == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"version": 99, "boots": [], "spans": []}', "a newer Firstlight wrote this fleet"),
        ('{"version": 1, "boots": ["../../etc/passwd"], "spans": []}', "damaged"),
        ('{"version": 1, "boots": 7, "spans": []}', "damaged"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_list_that_cannot_be_is_refused(
    fleet: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (fleet / "current.json").write_text(text)
    assert run(["fleet", "show", str(fleet), "phases"]) == 1
    error = capsys.readouterr().err
    assert says in error
    assert "hint: " in error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "FLEET", "phases"], "the fleet has no boots"),
        (["show", "nowhere", "phases"], "there is no such fleet"),
        (["add", "FLEET", "nothing.boot"], "no such file or directory"),
        (["add", "FLEET", ".", "--set", "Model=A"], "cannot be the name of an attribute"),
        (["add", "FLEET", ".", "--set", "digest=A"], "is a column of every fleet"),
        (["add", "FLEET", ".", "--set", "model"], "sets nothing"),
        (["init", "FLEET"], "the directory is not empty"),
        (["show", "FLEET", "phases", "--fail"], "`--fail` is for `regressed`"),
        (["show", "FLEET", "nope"], "invalid value for 'QUESTION': 'nope' is not one of"),
        (["show", "FLEET", "regressed", "--between", "A"], "is not two values"),
    ],
)
def test_wrong_use_is_named(fleet: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fleet", *(str(fleet) if word == "FLEET" else word for word in arguments)]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("modell = 'A'", "the fleet has no attribute `modell`"),
        ("model A", "cannot parse `A`"),
        ("model = 'A' or model = 'B'", "join conditions with `and`"),
        ("model = 'A' and", "join conditions with `and`"),
        ("model = 'Z'", "no boot meets the conditions"),
    ],
)
def test_wrong_conditions_are_named(fleet: Path, tmp_path: Path, text: str, says: str) -> None:
    firstlight.add_to_fleet(fleet, [make_bundle(tmp_path)], {"model": "A"})
    with pytest.raises(UsageError, match=says):
        firstlight.ask_fleet(fleet, "phases", where=text)


HEX = "0123456789abcdef"
MAC = st.lists(st.text(HEX, min_size=2, max_size=2), min_size=6, max_size=6).map(":".join)
UUID = st.tuples(*(st.text(HEX, min_size=size, max_size=size) for size in (8, 4, 4, 4, 12))).map("-".join)


@given(mac=MAC, uuid=UUID, host=st.from_regex(r"[a-z]{4,12}\d{2}", fullmatch=True))
def test_nothing_that_names_a_machine_is_left_in_a_name(mac: str, uuid: str, host: str) -> None:
    escaped = uuid.replace("-", "\\x2d")
    for name, secret in (
        (f"sys-subsystem-net-devices-enx{mac.replace(':', '')}.device", mac.replace(":", "")),
        (f"e1000e {mac}", mac),
        (f"dev-disk-by\\x2duuid-{escaped}.device", escaped),
        (f"systemd-fsck@dev-disk-by\\x2duuid-{escaped}.service", escaped),
        (f"crypt {uuid}", uuid),
        (f"dev-disk-by\\x2did-ata\\x2dSerial{host}.device", host),
        (f"report-{host}.service", host),
        (f"home-{host}.mount", host),
        (f"user@{host}.service", host),
    ):
        assert secret not in masked(name, [host])


@pytest.mark.parametrize("name", ["systemd-udevd.service", "getty@tty1.service", "acpi_init", "pcieport 0000:00:1f.2"])
def test_names_that_name_no_machine_stay(name: str) -> None:
    assert masked(name, ["web01"]) == name


def test_a_fleet_has_no_identities_unless_they_are_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "web01.txt"
    log.write_text(LOG)
    for keeps in (False, True):
        fleet = firstlight.init_fleet(tmp_path / f"fleet-{keeps}", keep_identities=keeps).directory
        firstlight.add_to_fleet(fleet, [log])
        stored = b"".join(path.read_bytes() for path in fleet.rglob("*") if path.is_file())
        rows = [str(row) for frame in (boots_of(fleet), spans_of(fleet)) for row in frame.rows()]
        assert b"web01" not in stored
        assert not any("web01" in row for row in rows)


@pytest.mark.parametrize("together", [False, True])
def test_serial_numbers_that_the_boot_names_are_in_no_name(fleet: Path, tmp_path: Path, together: bool) -> None:
    line = "[    0.800000] usb 1-1: SerialNumber: SN-90000001\n[    0.810000] calling  agent_init+0x0/0x10 @ 1\n"
    log = LOG.replace("gizmo_init", "gizmo_SN_90000001").replace("[    1.000000]", f"{line}[    1.000000]")
    (tmp_path / "a.log").write_text(log)
    given = tmp_path / "a.log"
    if together:
        given = tmp_path / "a.boot"
        assert run(["import", str(tmp_path / "a.log"), "-o", str(given)]) == 0
    assert firstlight.add_to_fleet(fleet, [given]).added == 1
    names = spans_of(fleet).filter(pl.col("kind") == "initcall")["name"].to_list()
    assert "gizmo_*" in names
    assert not any("90000001" in name for name in names)


def test_the_page_escapes_what_boots_say(tmp_path: Path) -> None:
    bad = next(text for text in HOSTILE if "<" in text)
    kernels = ("6.1", "6.12")
    groups = [Group({"model": bad, "kernel": kernel}, 30, {}) for kernel in kernels]
    fleet = make_fleet(tmp_path / "fleet", groups)
    page = firstlight.fleet_page(fleet.directory, tmp_path / "fleet.html").read_text()
    assert bad not in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert page.count("<polyline") == 2
    assert all(f"<h2>{title}" in page for title in ("Totals", "Phases", "Parts that changed"))


def test_causes_are_counted_over_the_boots_in_which_they_were_looked_for(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    firstlight.add_to_fleet(fleet, [make_bundle(tmp_path, name="plain.boot", seed=1)])
    assert run(["fleet", "explain", str(fleet)]) == 2
    assert "causes were looked for in no boot" in capsys.readouterr().err
    slow = make_bundle(tmp_path, name="slow.boot", seed=2)
    firstlight.add_to_fleet(fleet, [slow], causes=True)
    found = firstlight.explain_fleet(fleet)
    assert (found.boots, found.others) == (1, 1)
    from firstlight.advise.findings import explain

    alone = explain(firstlight.open(slow))
    wanted = {each.entry.id: each.cost.system_ns for each in (*alone.findings, *alone.features)}
    assert {each.id: each.sum_ns for each in found.causes} == wanted


def test_a_regression_fails_a_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups = [
        Group({"model": "A", "kernel": kernel}, 60, factors)
        for kernel, factors in (("6.6", {}), ("6.12", {"probe_1": 2.0}))
    ]
    fleet = str(make_fleet(tmp_path / "fleet", groups).directory)
    assert run(["fleet", "show", fleet, "regressed", "--fail", "--json"]) == 3
    data = json.loads(capsys.readouterr().out)["data"]
    assert [row["name"] for row in data["rows"] if row["verdict"] == "slower"] == ["probe_1"]
    assert run(["fleet", "show", fleet, "regressed", "--between", "6.12,6.6", "--fail"]) == 0
    assert "faster" in capsys.readouterr().out


def test_the_kernel_with_the_slowest_hundredth_is_reproduced(tmp_path: Path) -> None:
    from firstlight.fleet.reproduction import slow_initcall

    groups = [
        Group({"model": "A", "kernel": kernel}, 50, factors)
        for kernel, factors in (("6.6", {"probe_2": 1.2}), ("6.12", {"probe_5": 1.5}))
    ]
    fleet = make_fleet(tmp_path / "fleet", groups)
    assert slow_initcall(fleet, "probe_2").kernel == "6.6"
    found = slow_initcall(fleet, "probe_5")
    assert (found.kernel, found.boots) == ("6.12", 50)
    assert found.p99_ns > found.p50_ns > 1_250_000 * 1.4


@pytest.mark.parametrize("release", ["../../etc", "-oDir=/", "", "6.1 || id"])
def test_a_release_that_is_no_name_is_no_package(release: str) -> None:
    from firstlight.fleet.reproduction import kernel_of_release

    with pytest.raises(FirstlightError, match="no package can have the name"):
        kernel_of_release(release)


def test_boots_that_are_read_together_have_the_rows_that_each_has_alone(tmp_path: Path) -> None:
    from firstlight.bundle.open import open as open_boot
    from firstlight.fleet.boot_rows import boot_rows
    from firstlight.fleet.bulk import bulk_rows

    host = LOG.replace("web01", "db7").replace("gizmo_init", "gizmo_db7_init").replace("gizmo_db7", "gizmo-db7-x")
    logs = [
        LOG,
        LOG.replace("0.700000", "0.900000").replace("200000 usecs", "400000 usecs"),
        host,
        LOG + "[    4.000000] end\n",
    ]
    bundles = []
    for number, text in enumerate(logs):
        log = tmp_path / f"{number}.txt"
        log.write_text(text)
        firstlight.import_(log, output=tmp_path / f"{number}.boot")
        bundles.append(tmp_path / f"{number}.boot")
    damaged = tmp_path / "damaged.boot"
    shutil.copytree(bundles[0], damaged)
    (damaged / "marks.parquet").write_bytes(b"no table")
    recorded = make_bundle(tmp_path, name="recorded.boot")
    found = bulk_rows([*bundles, damaged, recorded], {"model": "A"})
    assert found.left == [damaged, recorded]
    for bundle, row in zip(bundles, found.boots, strict=True):
        alone = boot_rows(open_boot(bundle), {"model": "A"})
        assert row == alone.boot
        together = found.spans.filter(pl.col("boot") == row["boot"]).sort("kind", "name")
        assert together.equals(alone.spans.sort("kind", "name"))
    assert not found.spans["name"].str.contains("db7").any()


def test_one_boot_is_shown_with_all_its_parts(fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    firstlight.add_to_fleet(fleet, [make_bundle(tmp_path)], {"model": "A"})
    row = boots_of(fleet).row(0, named=True)
    assert run(["fleet", "boot", str(fleet), row["digest"][:8], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]
    assert found["boot"] == row
    assert len(found["parts"]) == spans_of(fleet).height
    took = [part["duration_ns"] for part in found["parts"]]
    assert took == sorted(took, reverse=True)
    assert run(["fleet", "boot", str(fleet), row["digest"], "-n", "1"]) == 0
    shown = capsys.readouterr().out
    assert row["digest"] in shown
    assert "model A" in shown
    assert run(["fleet", "boot", str(fleet), row["digest"], "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + spans_of(fleet).height


def test_a_boot_that_is_not_there_is_named(fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = make_fleet(tmp_path / "many", [Group({"model": "A", "kernel": "6.1"}, 40, {})]).directory
    for place, digest, says in (
        (fleet, "abcd", "no boot of the fleet has the digest"),
        (fleet, "A'B", "is not a digest"),
        (fleet, "ab", "is not a digest"),
        (many, "0000", "40 boots have a digest that begins like this"),
    ):
        assert run(["fleet", "boot", str(place), digest]) == 2
        assert says in capsys.readouterr().err
