"""Models of disks: what a file may say, and what is said about one that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstlight.errors import LabError, UsageError
from firstlight.lab.qemu.untrusted import questionable
from firstlight.lab.run.validate_options import check_choices
from firstlight.lab.storage.model import find_model, model_text, models, read_model
from firstlight.lab.storage.requests import Request, busy_ns, read_requests, storage_facts
from firstlight.recipe.choices import Choices
from firstlight.recipe.isa import DEFAULT
from firstlight.recipe.options import RecordOptions

GOOD = (
    'name = "mine"\n[read]\nlatency = "1 ms"\nbandwidth = "10 MB/s"\n[write]\nlatency = "2 ms"\nbandwidth = "5 MB/s"\n'
)


@pytest.mark.parametrize("name", models())
def test_every_model_says_where_its_figures_come_from(name: str) -> None:
    model = read_model(find_model(name))
    assert model.name == name
    assert model.title
    assert len(model.source) > 100
    assert model.read.bandwidth > 0


def test_a_model_that_is_written_is_the_model_that_is_read(tmp_path: Path) -> None:
    more = '[flush]\nlatency = "3 ms"\n[read-ahead]\nsize = "128K"\nbandwidth = "40 MB/s"\n'
    for number, text in enumerate((GOOD, GOOD + more, GOOD.replace('"1 ms"', '"1 ms"\nsequential-latency = "0.2 ms"'))):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        model = read_model(path)
        path.write_text(model_text(model))
        assert read_model(path) == model


def test_the_plugin_gets_nanoseconds_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(GOOD)
    assert read_model(path).in_plugin() == {
        "read": {"latency_ns": 1_000_000, "sequential_latency_ns": 1_000_000, "bandwidth": 10_000_000},
        "write": {"latency_ns": 2_000_000, "sequential_latency_ns": 2_000_000, "bandwidth": 5_000_000},
        "flush_ns": 0,
        "read_ahead": 0,
        "interface": 10_000_000,
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "`name`: field required"),
        ("name = ", "this is not TOML"),
        (GOOD + "[flushes]\n", "unknown key `flushes`"),
        (GOOD.replace('"1 ms"', "1"), "`read.latency`: write a duration with its unit"),
        (GOOD.replace('"1 ms"', '"61 s"'), "`read.latency`: input should be less than or equal to 60000000000"),
        (GOOD.replace('"10 MB/s"', '"10 MB"'), "`read.bandwidth`: write a rate with its unit"),
        (GOOD.replace('"10 MB/s"', '"0 MB/s"'), "`read.bandwidth`: write a rate with its unit"),
        (GOOD + '[read-ahead]\nsize = 12\nbandwidth = "1 MB/s"\n', "`read-ahead.size`: write a size with its unit"),
        (GOOD + '[read-ahead]\nsize = "12K"\n', "`read-ahead.bandwidth`: field required"),
        (GOOD.replace('"mine"', '"\\u001b[31m"'), "name and title have to be printable"),
    ],
    ids=lambda value: value[:12] if value.startswith("`") else "",
)
def test_what_is_wrong_with_a_model_is_named(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_model(path)
    assert says in caught.value.message
    assert str(path) in caught.value.report()


def test_a_model_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model of this name") as caught:
        find_model("emcc")
    assert "emmc" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="no such file"):
        find_model(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({}, "`--storage` needs `--rootfs`"),
        ({"rootfs": "debian", "live": True}, "`--live` cannot be combined with `--storage`"),
        ({"rootfs": "/r", "root_as": "ext4", "ready": "up"}, "`--root-as` cannot be combined with `--storage`"),
        ({"rootfs": "debian", "initrd": Path("i")}, "`--initrd` cannot be combined with `--storage`"),
    ],
)
def test_what_does_not_go_with_a_disk_is_named(others: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_choices(RecordOptions(Path("a.boot"), storage="emmc", **others), DEFAULT)
    assert caught.value.message == says


def test_a_model_of_a_stranger_is_a_file_of_theirs() -> None:
    assert questionable(Choices(storage="emmc")) == []
    assert questionable(Choices(storage="/home/a/m.toml")) == ["`--storage /home/a/m.toml`"]


class TestTheLog:
    def test_facts_count_what_was_done_until_the_boot_was_ready(self, tmp_path: Path) -> None:
        path = tmp_path / "storage.tsv"
        path.write_text("0\t100\tR\t0\t512\n100\t300\tW\t512\t1024\n300\t310\tF\t0\t0\n900\t1000\tR\t0\t4096\n")
        facts = dict(storage_facts(path, read_model(find_model("emmc")), 950))
        assert facts == {
            "storage.model": "emmc", "storage.reads": "1", "storage.read_bytes": "512", "storage.writes": "1",
            "storage.written_bytes": "1024", "storage.flushes": "1", "storage.busy_ns": "310",
        }  # fmt: skip

    def test_a_boot_whose_end_is_unknown_has_no_figures(self, tmp_path: Path) -> None:
        path = tmp_path / "storage.tsv"
        path.write_text("0\t100\tR\t0\t512\n")
        assert storage_facts(path, read_model(find_model("emmc")), None) == [("storage.model", "emmc")]

    def test_a_disk_is_busy_once_at_a_time(self) -> None:
        assert busy_ns([Request(0, 10, "R", 0, 1), Request(5, 20, "R", 1, 1), Request(100, 101, "F", 0, 0)]) == 21

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("error\ta request was done at 3 ns instead of 2 ns\n", "did not follow its model: a request was done"),
            ("1\t2\tR\t0\n", "damaged"),
            ("1\t2\tX\t0\t1\n", "damaged"),
            ("1\t2\tR\tzero\t1\n", "damaged"),
        ],
        ids=["late", "short", "kind", "number"],
    )
    def test_a_log_that_cannot_be_used_is_an_error(self, text: str, says: str, tmp_path: Path) -> None:
        path = tmp_path / "storage.tsv"
        path.write_text(text)
        with pytest.raises(LabError, match=says):
            read_requests(path)

    def test_a_log_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(LabError, match="left no log"):
            read_requests(tmp_path / "storage.tsv")
