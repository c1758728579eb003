"""Boots from a disk with a model: equal each time, each request as long as the model says, the boot as much longer."""

from __future__ import annotations

import filecmp
import hashlib
import shutil
from pathlib import Path

import pytest

import firstlight
from busy_host import host_under_load
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.run.verify import verify
from firstlight.lab.storage.model import find_model, read_model
from firstlight.lab.storage.requests import busy_ns, read_requests
from firstlight.recipe.options import RecordOptions
from firstlight.recipe.recipe import Recipe
from short_boots import SHORT
from storage_models import expected_ends

pytestmark = pytest.mark.boot

#: Reads a file past the caches, one block after the other, then writes, so that every kind of request comes.
_INIT = """\
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -o remount,rw / 2>/dev/null
/bin/busybox dd if=/data of=/dev/null bs=4k count=100 iflag=direct 2>/dev/null
/bin/busybox dd if=/data of=/dev/null bs=256k skip=2 2>/dev/null
/bin/busybox dd if=/dev/zero of=/new bs=4k count=16 conv=fsync 2>/dev/null
/bin/busybox md5sum /data >/dev/console
echo "up" >/dev/console
exec /bin/busybox sleep 1000
"""
_TRACE = """\
for n in 3 17 5 29 11 23 7 19 2 31 13 37 1 41 8 43; do
  /bin/busybox dd if=/data of=/dev/null bs=32k count=1 skip=$n iflag=direct 2>/dev/null
  /bin/busybox dd if=/data of=/dev/null bs=4k count=1 skip=$((n*9)) iflag=direct 2>/dev/null
done
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t tracefs trace /sys/kernel/tracing
/bin/busybox cat /sys/kernel/tracing/trace >/dev/console
"""
_MODEL = """\
name = "test"
[read]
latency = "{latency}"
sequential-latency = "100 us"
bandwidth = "100 MB/s"
[write]
latency = "300 us"
bandwidth = "40 MB/s"
[flush]
latency = "2 ms"
[read-ahead]
size = "64K"
bandwidth = "200 MB/s"
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root file system with a file of 2 MiB to read."""
    root = tmp_path_factory.mktemp("disk") / "root"
    for folder in ("bin", "sbin", "proc", "dev"):
        (root / folder).mkdir(parents=True)
    shutil.copy(static_busybox(), root / "bin/busybox")
    (root / "sbin/init").write_text(_INIT)
    (root / "sbin/init").chmod(0o755)
    (root / "data").write_bytes(b"".join(number.to_bytes(4, "little") for number in range(1 << 19)))
    return root


def options(root: Path, output: Path, storage: Path | str, *, profile: bool = True) -> RecordOptions:
    """A boot of that root from such a disk."""
    return RecordOptions(
        output, rootfs=str(root), storage=str(storage), ready="^up", append=f"{SHORT} quiet", profile=profile
    )


def model_file(folder: Path, latency: str) -> Path:
    """A model with this latency of a read."""
    path = folder / f"{latency.replace(' ', '')}.toml"
    path.write_text(_MODEL.format(latency=latency))
    return path


def test_a_boot_from_a_disk_is_equal_each_time_and_does_what_its_model_says(root: Path, tmp_path: Path) -> None:
    path = model_file(tmp_path, "500 us")
    first = firstlight.record_with(options(root, tmp_path / "a.boot", path))
    with host_under_load():
        firstlight.record_with(options(root, tmp_path / "b.boot", path))
    assert first.manifest.mode == "exact"
    assert first.manifest.completeness.complete
    assert first.manifest.digests["storage"]
    one, other = (tmp_path / name for name in ("a.boot", "b.boot"))
    tables = [file.name for file in one.glob("*.parquet")]
    assert filecmp.cmpfiles(one, other, tables, shallow=False) == (tables, [], [])
    ready = first.marks().filter(mark="ready")["time_ns"].item()
    logs = [
        [each for each in read_requests(bundle / "raw/storage.tsv") if each.done_ns <= ready] for bundle in (one, other)
    ]
    assert logs[0] == logs[1]
    assert {each.kind for each in logs[0]} == {"R", "W", "F"}
    assert [each.done_ns for each in logs[0]] == expected_ends(read_model(path), logs[0])
    facts = dict(first.facts().select("fact", "value").iter_rows())
    assert facts["storage.model"] == "test"
    assert int(facts["storage.busy_ns"]) == busy_ns(logs[0])
    # A disk that is busy is what the guest waits for.
    assert first.manifest.totals.idle_ns
    assert all(each.holds for each in first.manifest.invariants.values())


def test_a_slower_disk_makes_the_boot_as_much_longer(root: Path, tmp_path: Path) -> None:
    boots = {}
    for latency in ("500 us", "1500 us"):
        output = tmp_path / f"{latency[:-3]}.boot"
        boots[latency] = firstlight.record_with(options(root, output, model_file(tmp_path, latency)))
    fast, slow = boots.values()
    readies = [each.marks().filter(mark="ready")["time_ns"].item() for each in (fast, slow)]
    busy = [int(dict(each.facts().select("fact", "value").iter_rows())["storage.busy_ns"]) for each in (fast, slow)]
    assert busy[1] > busy[0]
    # One program reads, and waits for each block; the rest is a tick that meets other work.
    assert readies[1] - readies[0] == pytest.approx(busy[1] - busy[0], rel=0.05)


def test_what_the_guest_writes_does_not_stay_and_what_it_reads_is_right(root: Path, tmp_path: Path) -> None:
    boot = firstlight.record_with(options(root, tmp_path / "a.boot", "sd", profile=False))
    recipe = boot.manifest.recipe
    assert isinstance(recipe, Recipe)
    image = recipe.files.image
    assert image is not None
    before = image.read_bytes()
    console = (tmp_path / "a.boot/raw/console.log").read_text()
    assert hashlib.md5((root / "data").read_bytes()).hexdigest() in console
    assert verify(tmp_path / "a.boot").equal
    assert image.read_bytes() == before
    assert not list((tmp_path / "a.boot/raw").glob("vl.*"))


@pytest.mark.parametrize("name", ["emmc", "spi-nor", "sata"])
def test_every_model_boots(name: str, root: Path, tmp_path: Path) -> None:
    firstlight.record_with(options(root, tmp_path / "a.boot", name, profile=False))
    log = read_requests(tmp_path / "a.boot/raw/storage.tsv")
    assert len(log) > 100
    assert [each.done_ns for each in log] == expected_ends(read_model(find_model(name)), log)


def test_a_boot_that_is_given_up_while_the_disk_is_busy_ends(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(_MODEL.format(latency="500 us").replace('"2 ms"', '"60 s"'))
    given_up = RecordOptions(
        tmp_path / "a.boot",
        rootfs=str(root),
        storage=str(path),
        ready="^up",
        append=f"{SHORT} quiet",
        timeout_virtual_s=30.0,
    )
    with pytest.raises(firstlight.UnhealthyBootError, match="virtual_timeout"):
        firstlight.record_with(given_up)
    facts = dict(firstlight.open(tmp_path / "a.boot").facts().select("fact", "value").iter_rows())
    assert facts["storage.model"] == "test"


def test_a_log_of_a_boot_gives_the_model_back(root: Path, tmp_path: Path) -> None:
    traced = tmp_path / "traced"
    shutil.copytree(root, traced)
    (traced / "sys").mkdir()
    script = _INIT.replace('echo "up"', _TRACE + 'echo "up"')
    (traced / "sbin/init").write_text(script)
    path = tmp_path / "m.toml"
    path.write_text(_MODEL.format(latency="500 us").partition("[read-ahead]")[0])
    events = "trace_event=block:block_rq_issue,block:block_rq_complete"
    boot = RecordOptions(
        tmp_path / "a.boot", rootfs=str(traced), storage=str(path), ready="^up", append=events, profile=False
    )
    firstlight.record_with(boot)
    found = firstlight.calibrate_storage(tmp_path / "a.boot/raw/console.log").model
    given = read_model(path)
    # What is more is the kernel's own work between its two events.
    assert 0 <= found.read.latency - given.read.latency < 20_000
    assert found.read.bandwidth == pytest.approx(given.read.bandwidth, rel=0.02)
    assert 0 <= found.flush.latency - given.flush.latency < 20_000
