"""The distribution's bill: who pays for the instructions of a boot, and how files find their packages."""

from __future__ import annotations

import shutil
import sqlite3
import struct
import subprocess
import tarfile
from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import make_bundle, write_table
from firstlight.api import Boot, GroupBill, Payer
from firstlight.bundle.tables import SCHEMAS, columns
from firstlight.cli.main import run
from firstlight.errors import LabError
from firstlight.lab.rootfs.packages.read import package_owners
from firstlight.lab.run.packages import package_rows
from firstlight.render.terminal.report import print_report
from firstlight.render.views.packages import packages_report
from invented_processes import make_processes

DIVERSIONS = "/usr/bin/which\n/usr/bin/which.debianutils\nother\n"


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_processes(tmp_path_factory.mktemp("boot"), user_code=False))


def put(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def rpm_header(texts: dict[int, list[bytes]], numbers: dict[int, list[int]]) -> bytes:
    index, data = b"", b""
    for tag, values in texts.items():
        index += struct.pack(">IIiI", tag, 8 if len(values) > 1 or tag > 1100 else 6, len(data), len(values))
        data += b"".join(value + b"\0" for value in values)
    for tag, figures in numbers.items():
        data += bytes(-len(data) % 4)
        index += struct.pack(">IIiI", tag, 4, len(data), len(figures))
        data += struct.pack(f">{len(figures)}i", *figures)
    return struct.pack(">II", len(index) // 16, len(data)) + index + data


def rpm_root(root: Path) -> Path:
    path = root / "var/lib/rpm/rpmdb.sqlite"
    path.parent.mkdir(parents=True)
    good = rpm_header(
        {
            1000: [b"coreutils"],
            1001: [b"9.4"],
            1002: [b"6.fc40"],
            1117: [b"cat", b"hosts"],
            1118: [b"/usr/bin/", b"/etc/"],
        },
        {1116: [0, 1]},
    )
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL)")
        for blob in (good, b"", good[:20], b"\xff" * 64):
            database.execute("INSERT INTO Packages (blob) VALUES (?)", (blob,))
    database.close()
    return root


DPKG: dict[str, str | bytes] = {
    "var/lib/dpkg/status": "Package: coreutils\nStatus: install ok installed\nVersion: 9.1-1\n"
    "Description: GNU\n Version: 7\n\nPackage: libc6\nVersion: 2.36\n",
    "var/lib/dpkg/diversions": DIVERSIONS,
    "var/lib/dpkg/info/coreutils.list": "/.\n/bin\n/bin/cat\n/usr/bin/which\n",
    "var/lib/dpkg/info/libc6:amd64.list": "/lib/x86_64-linux-gnu/libc.so.6\n/etc/bad \x1b[31m\\nname\n",
    "var/lib/dpkg/info/other.list": "/usr/bin/which\n",
    "var/lib/dpkg/info/coreutils.postinst": "/not/a/list\n",
}
SYSTEMS: dict[str, tuple[dict[str, str | bytes], str, tuple[str, str | None]]] = {
    "dpkg": (DPKG, "/usr/bin/cat", ("coreutils", "9.1-1")),
    "apk": ({"lib/apk/db/installed": "C:Q1\nP:busybox\nV:1.36-r5\nF:bin\nR:busybox\nF:etc\n\nP:x\nF:\nR:x\n"},
            "/bin/busybox", ("busybox", "1.36-r5")),
    "opkg": ({"usr/lib/opkg/status": "Package: base\nVersion: 3\n",
              "usr/lib/opkg/info/base.list": "/sbin/init\t0755\n"},
             "/sbin/init", ("base", "3")),
    "pacman": ({"var/lib/pacman/local/bash-5.2-1/desc": "%NAME%\nbash\n\n%VERSION%\n5.2-1\n",
                "var/lib/pacman/local/bash-5.2-1/files": "%FILES%\nusr/\nusr/bin/\nusr/bin/bash\n"},
               "/usr/bin/bash", ("bash", "5.2-1")),
}  # fmt: skip


@pytest.mark.parametrize("manager", SYSTEMS)
@pytest.mark.parametrize("form", ["directory", "tar", "image"])
def test_each_package_manager_says_who_owns_a_file(tmp_path: Path, manager: str, form: str) -> None:
    files, path, package = SYSTEMS[manager]
    root = put(tmp_path / "root", files)
    if form == "tar":
        with tarfile.open(tmp_path / "root.tar", "w") as archive:
            archive.add(root, ".")
        root = tmp_path / "root.tar"
    elif form == "image":
        mke2fs = shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin:/bin")
        assert mke2fs is not None
        subprocess.run([mke2fs, "-q", "-t", "ext4", "-d", root, tmp_path / "root.ext4", "8M"], check=True)
        root = tmp_path / "root.ext4"
    owners = package_owners(root)
    assert owners is not None
    assert owners.manager == manager
    assert owners.owner(path) == package


def test_rpm_owns_files_and_damaged_headers_are_passed_over(tmp_path: Path) -> None:
    owners = package_owners(rpm_root(tmp_path))
    assert owners is not None
    assert (owners.manager, owners.packages) == ("rpm", 1)
    assert owners.owner("/etc/hosts") == owners.owner("/bin/cat") == ("coreutils", "9.4-6.fc40")


def test_a_diverted_file_is_the_diverting_packages(tmp_path: Path) -> None:
    owners = package_owners(put(tmp_path, DPKG))
    assert owners is not None
    assert [owners.owner(path) for path in ("/usr/bin/which", "/bin/which.debianutils", "/not/a/list")] == [
        ("other", None), ("coreutils", "9.1-1"), None
    ]  # fmt: skip


def test_paths_of_either_side_of_a_merged_usr_and_deleted_files_are_found(tmp_path: Path) -> None:
    owners = package_owners(put(tmp_path, DPKG))
    assert owners is not None
    paths = [
        "/usr/lib/x86_64-linux-gnu/libc.so.6",
        "/bin/cat (deleted)",
        "relative",
        "/memfd:code (deleted)",
        "",
        "/usr/etc/x",
    ]
    assert package_rows(paths, owners) == [
        ("/bin/cat (deleted)", "coreutils", "9.1-1"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6", "2.36"),
    ]
    assert owners.owner("/usr/bin") is None
    assert owners.owner("/etc/bad \x1b[31m\\nname") == ("libc6", "2.36")


@pytest.mark.parametrize(
    "files",
    [
        {}, {"etc/hosts": "x"}, {"var/lib/dpkg/status": b"\xff\xfe\0" * 9}, {"lib/apk/db/installed": "R:orphan\n"},
        {"var/lib/rpm/rpmdb.sqlite": b"no database"}, {"var/lib/pacman/local/x/files": "%FILES%\nusr/bin/x\n"},
    ],
)  # fmt: skip
def test_a_root_without_a_sound_database_has_no_owners(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    assert package_owners(put(tmp_path, files)) is None


def test_a_database_that_is_a_link_out_of_the_root_is_not_read(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", DPKG)
    (tmp_path / "root/var/lib").mkdir(parents=True)
    link = tmp_path / "root/var/lib/dpkg"
    link.symlink_to(tmp_path / "elsewhere/var/lib/dpkg")
    assert package_owners(tmp_path / "root") is None
    link.unlink()
    (link / "info").mkdir(parents=True)
    (link / "info/coreutils.list").symlink_to(tmp_path / "elsewhere/var/lib/dpkg/info/coreutils.list")
    assert package_owners(tmp_path / "root") is None


@pytest.mark.parametrize("content", [None, b"", b"hsqs" + bytes(2000), b"\x1f\x8b damaged"])
def test_a_root_of_another_kind_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    root = tmp_path / "root"
    if content is not None:
        root.write_bytes(content)
    with pytest.raises(LabError):
        package_owners(root)


@pytest.mark.parametrize("by", GroupBill)
def test_the_bill_adds_up_to_the_instructions_of_all_processes(boot: Boot, by: GroupBill) -> None:
    rows = boot.packages(by=by)
    assert rows["instructions"].sum() == boot.processes()["instructions"].sum()
    assert rows.filter(pl.col("instructions") < 0).is_empty()
    assert set(rows["payer"]) == {Payer.PACKAGE, Payer.NO_PACKAGE, Payer.KERNEL}


def test_a_process_that_runs_two_programs_pays_for_each_its_part(boot: Boot) -> None:
    rows = boot.packages(by=GroupBill.FILE)
    paid = {row["file"]: (row["package"], row["instructions"]) for row in rows.iter_rows(named=True)}
    assert paid["/bin/sh"] == ("dash", 200_000)
    assert paid["/usr/bin/udevadm"] == ("udev", 300_000)
    assert paid["/usr/lib/svc"] == (None, 500_000)
    whole = boot.processes().filter(pl.col("pid") == 10)["instructions"].item()
    assert whole == 500_000


def test_an_exec_in_the_middle_of_a_run_divides_its_instructions(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path, user_code=False)
    images = pl.read_parquet(bundle / "images.parquet")
    later = pl.when(pl.col("image") == "/usr/bin/udevadm").then(50_000).otherwise(0)
    write_table(bundle, "images", images.with_columns(start_ns=pl.col("start_ns") + later))
    rows = firstlight.open(bundle).packages(by=GroupBill.FILE)
    paid = dict(rows.select("file", "instructions").iter_rows())
    assert (paid["/bin/sh"], paid["/usr/bin/udevadm"]) == (250_000, 250_000)


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Boot:
    """The boot with the code that each program executed in user mode, by file."""
    schema = columns("process:int thread:int image kind file self_instructions:int")
    boot = firstlight.open(make_processes(tmp_path, user_code=False))
    user = {row["process"]: row["user_instructions"] for row in boot.processes().iter_rows(named=True)}
    linker = "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    rows = [
        (1, 1, "/init", "file", "/init", user[1]),
        (2, 2, "/bin/sh", "file", "/bin/sh", 20_000),
        (2, 2, "/bin/sh", "file", linker, 30_000),
        (2, 2, "/usr/bin/udevadm", "file", "/usr/lib/libc.so.6", 90_000),
        (2, 2, "/usr/bin/udevadm", "vdso", None, 10_000),
        (3, 3, "/usr/lib/svc", "deleted", "/usr/lib/svc", user[3]),
    ]
    monkeypatch.setitem(SCHEMAS, "user_functions", SCHEMAS.get("user_functions", schema))
    owned = boot.table("packages").vstack(
        pl.DataFrame(
            [(linker, "libc6", "2.36"), ("/usr/lib/libc.so.6", "libc6", "2.36")], SCHEMAS["packages"], orient="row"
        )
    )
    boot.replace_tables(user_functions=pl.DataFrame(rows, schema, orient="row"), packages=owned)
    return boot


@pytest.mark.parametrize("by", GroupBill)
def test_with_user_code_each_file_pays_for_what_it_executed_itself(followed: Boot, by: GroupBill) -> None:
    rows = followed.packages(by=by)
    processes = followed.processes()
    assert rows["instructions"].sum() == processes["instructions"].sum()
    assert rows["user_instructions"].sum() == processes["user_instructions"].sum()
    sums = rows.select(pl.sum_horizontal("user_instructions", "kernel_instructions")).to_series()
    assert sums.to_list() == rows["instructions"].to_list()


def test_the_dynamic_linker_stands_apart_from_its_package(followed: Boot) -> None:
    rows = followed.packages()
    libc = rows.filter(pl.col("package") == "libc6")
    assert dict(libc.select("payer", "instructions").iter_rows()) == {Payer.PACKAGE: 90_000, Payer.LINKER: 30_000}


def test_code_without_a_file_is_named_by_its_kind(followed: Boot, capsys: pytest.CaptureFixture[str]) -> None:
    rows = followed.packages(by=GroupBill.FILE).filter(pl.col("file") == "[vdso]")
    assert rows.select("payer", "instructions").rows() == [(Payer.NO_PACKAGE, 10_000)]
    print_report(packages_report(followed, followed.packages(), followed.packages().clear(), GroupBill.PACKAGE))
    assert "libc6: dynamic linker" in capsys.readouterr().out


def test_a_library_or_data_file_pays_nothing(boot: Boot) -> None:
    assert "netbase" not in boot.packages()["package"].to_list()


def test_another_root_names_the_packages(tmp_path: Path, boot: Boot) -> None:
    root = put(tmp_path, {"var/lib/dpkg/status": "", "var/lib/dpkg/info/mine.list": "/usr/lib/svc\n"})
    rows = boot.packages(root=root)
    assert rows.filter(pl.col("package") == "mine")["instructions"].to_list() == [500_000]
    with pytest.raises(LabError, match="no package database"):
        boot.packages(root=put(tmp_path / "empty", {"x": ""}))


def test_a_boot_without_processes_has_columns_and_no_rows(tmp_path: Path, boot: Boot) -> None:
    empty = firstlight.open(make_bundle(tmp_path)).packages()
    assert empty.is_empty()
    assert empty.schema == boot.packages().schema


def test_a_boot_of_no_package_says_how_to_name_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_processes(tmp_path, user_code=False)
    write_table(bundle, "packages", pl.read_parquet(bundle / "packages.parquet").clear())
    assert run(["packages", str(bundle)]) == 0
    printed = capsys.readouterr()
    assert "[no package]" in printed.out
    assert "--root" in printed.err
