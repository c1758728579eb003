"""An experiment by workers of which two are killed, one has another QEMU and one lies, against the same boots made
here.

Every boot of the minimal guest has a word of its own on the command line. The tables of both runs have to be equal, and
the worker that lies has to be named. Then what a farm costs for each boot: one worker, one boot asked at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

import polars as pl
from measuring.figures import line, spread, title

from firstlight.cache import file_digest
from firstlight.farm.store import Store, open_store

_KILLED = (("first", 0.15), ("second", 0.4))
"""Workers that are killed in the middle of a boot, when so large a share of the results is there."""
_HONEST = ("first", "second", "third")
_LIAR, _OTHER = "liar", "other-qemu"


def main() -> None:
    """Run both, compare, and print what was measured; exit code 1 where a table differs or no liar was named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boots", type=int, default=100, help="how many (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=15, help="boots that measure the overhead (default: %(default)s)")
    parser.add_argument("--no-profile", action="store_true", help="boots without a profile: a third of the time")
    parser.add_argument("--quick", action="store_true", help="a few boots only")
    parser.add_argument("--work", metavar="STORE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        lie(given.work)
        return
    boots, pairs = (6, 3) if given.quick else (given.boots, given.pairs)
    title(f"{boots} boots by workers: two are killed, one has another QEMU, one lies")
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as temporary:
        folder = Path(temporary)
        passed = _equal_tables(folder, boots, profile=not given.no_profile)
        _overhead(folder, pairs)
    raise SystemExit(0 if passed else 1)


def _equal_tables(folder: Path, boots: int, *, profile: bool) -> bool:
    plan = folder / "plan.toml"
    arms = "".join(f'[[arm]]\nname = "a{n}"\nappend = "bench.farm={n}"\n' for n in range(boots))
    base = f"[base]\nprofile = {str(profile).lower()}\n"
    plan.write_text("canary = false\n" + base + arms, encoding="utf-8")
    caches = {"own": folder / "cache-own", "farm": folder / "cache-farm"}
    for cache in caches.values():
        cache.mkdir()
    began = time.monotonic()
    _experiment(plan, folder / "own", caches["own"])
    own_s = time.monotonic() - began
    line(f"{boots} boots on this machine, one a processor", f"{own_s:.0f} s")
    store = open_store(folder / "store", make=True)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        environment = {"XDG_CACHE_HOME": str(caches["farm"])}
        stack.enter_context(_worker(store, _OTHER, environment | {"PATH": _other_qemu(folder)}))
        stack.enter_context(_worker(store, _LIAR, environment, lies=True))
        started = {name: stack.enter_context(_worker(store, name, environment)) for name in _HONEST[:2]}
        killer = threading.Thread(target=_kill, args=(started, store, boots), daemon=True)
        stack.enter_context(_worker(store, _HONEST[2], environment))
        killer.start()
        said = _experiment(plan, folder / "farm", caches["farm"], "--workers", store.where)
        killer.join()
        workers = _status(store)
    line(f"the same by {len(_HONEST) + 2} workers on this machine", f"{time.monotonic() - began:.0f} s")
    for name, each in sorted(workers.items()):
        line(f"worker `{name}`", f"{each['boots']} boots, {each['state']}: {each['reason'] or 'no objection'}")
    differing = [
        str(manifest.parent.relative_to(folder / "own"))
        for manifest in sorted((folder / "own").glob("*/*.boot/manifest.json"))
        if not _is_equal(manifest.parent, folder / "farm" / manifest.parent.relative_to(folder / "own"))
    ]
    equal = len(list((folder / "own").glob("*/*.boot"))) - len(differing)
    named = store.names("excluded") == [f"{_LIAR}.json"] and f"`{_LIAR}` is left out" in said
    line("boots with equal manifests, tables and evidence", f"{equal} of {boots}", f"{boots}")
    line("the worker that lies was named, and it alone", "yes" if named else f"no: {store.names('excluded')}", "yes")
    refused = workers[_OTHER]["boots"] == 0 and "qemu (" in str(workers[_OTHER]["reason"])
    line("the worker with another QEMU made none, and says why", "yes" if refused else "no", "yes")
    return equal == boots and named and refused


def _is_equal(one: Path, other: Path) -> bool:
    """Whether two bundles have equal files; when and where they were made is in a file of its own."""
    files = {path.relative_to(one) for path in one.rglob("*") if path.is_file() and path.name != "provenance.json"}
    return all((other / each).is_file() and file_digest(one / each) == file_digest(other / each) for each in files)


def _experiment(plan: Path, output: Path, cache: Path, *more: str) -> str:
    command = [sys.executable, "-m", "firstlight", "experiment", "run", str(plan), "-o", str(output), *more]
    run = subprocess.run(
        command, env=os.environ | {"XDG_CACHE_HOME": str(cache)}, text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    print("".join(f"  {each}\n" for each in run.stderr.splitlines() if "left out" in each), end="", flush=True)
    if not output.is_dir():
        raise SystemExit(run.stderr)
    return run.stderr


def _status(store: Store) -> dict[str, dict[str, object]]:
    command = [sys.executable, "-m", "firstlight", "farm", "status", store.where, "--json"]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["data"]["workers"]
    return {each["name"]: each for each in found}


@contextlib.contextmanager
def _worker(
    store: Store, name: str, environment: Mapping[str, str], *, lies: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    honest = ["-m", "firstlight", "work", store.where, "--name", name, "--wait", "3600"]
    command = [sys.executable, *([__file__, "--work", store.where] if lies else honest)]
    child = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield child
    finally:
        child.send_signal(signal.SIGINT)
        child.wait()


def _kill(workers: Mapping[str, subprocess.Popen[bytes]], store: Store, boots: int) -> None:
    """End two workers with the signal that cannot be caught, each in the middle of a boot."""
    for name, share in _KILLED:
        while len(store.names("results")) // 2 < share * boots:
            time.sleep(0.05)
        while (store.read("workers", f"{name}.json") or {}).get("state") != "booting":
            time.sleep(0.05)
        time.sleep(1.0)
        workers[name].kill()
        print(f"  worker `{name}` was killed with {len(store.names('results')) // 2} results there", flush=True)


def _other_qemu(folder: Path) -> str:
    """A search path with another QEMU: the same program, but not the same file."""
    others = folder / "bin"
    others.mkdir()
    program = others / "qemu-system-x86_64"
    program.write_text(f'#!/bin/sh\nexec {shutil.which(program.name)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return f"{others}:{os.environ['PATH']}"


def lie(location: str) -> None:
    """Work as a machine whose memory is broken: every boot comes up, and its log has another word."""
    from firstlight.farm import worker
    from firstlight.farm.packing import pack

    def forge(bundle: Path, target: Path) -> None:
        log = pl.read_parquet(bundle / "log.parquet")
        changed = log.with_columns(text=pl.col("text").str.replace("Linux", "Minix"))
        changed.write_parquet(bundle / "log.parquet", metadata={"firstlight.schema": "1"})
        manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
        manifest["tables"]["log"]["sha256"] = file_digest(bundle / "log.parquet")
        (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        pack(bundle, target)

    with mock.patch("firstlight.farm.worker.pack", forge):
        worker.work(open_store(location), name=_LIAR, wait_s=3600)


def _quiet(text: str) -> None:
    """Discard a note."""


def _overhead(folder: Path, pairs: int) -> None:
    """What a farm adds to each boot: all of the time from asking to having it that is not the recording."""
    import firstlight
    from firstlight.experiment import boot_cache
    from firstlight.lab.host.progress import SilentProgress
    from firstlight.lab.run.resolve import resolve
    from firstlight.recipe.options import RecordOptions

    store = open_store(folder / "alone", make=True)
    added, asking, locally = [], [], []
    with _worker(store, "alone", {}), firstlight.boots_by(str(store.where), _quiet):
        for number in range(pairs + 1):
            began = time.monotonic()
            firstlight.record(folder / f"here{number}.boot", append=f"bench.here={number}", profile=False)
            locally.append(time.monotonic() - began)
            options = RecordOptions(folder / f"there{number}.boot", append=f"bench.there={number}", profile=False)
            inputs = resolve(options)
            began = time.monotonic()
            boot_cache.make(options, inputs, SilentProgress())
            asking.append(time.monotonic() - began)
            about = store.read("results", f"{inputs.key}.json") or {}
            added.append(asking[-1] - float(about["boot_s"]))
    # The first boot of a worker is made twice.
    line("a boot asked of a worker, without the recording itself", spread(added[1:]), "below 0.5 s")
    line("a boot asked of a worker", spread(asking[1:]))
    line("another boot like it recorded here", spread(locally[1:]))
    line("load of the machine, processes", f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
