"""Bundles that somebody made to harm who opens them: each kind by its name."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from bundles import make_bundle, make_recorded, settle_recipe

Change = Callable[[Path, Path], None]
"""Of a bundle and the folder of canaries: makes it a hostile one."""


def make_canaries(folder: Path) -> Path:
    """A folder with what nobody may touch: secrets, a folder, and programs that tell when they run."""
    (folder / "folder").mkdir(parents=True)
    for name in ("secret", "folder/secret", "vmlinuz", "root.img"):
        (folder / name).write_text("a secret\n")
    for name in ("program", "folder/before-root"):
        (folder / name).write_text(f"#!/bin/sh\necho ran >{folder}/ran\n")
        (folder / name).chmod(0o755)
    pl.DataFrame({"fact": ["a"], "value": ["secret"]}).write_parquet(folder / "facts.parquet")
    return folder


def make_hostile(kind: str, directory: Path, canaries: Path) -> Path:
    """A hostile bundle of a kind."""
    bundle = make_recorded(make_bundle(directory))
    KINDS[kind](bundle, canaries)
    return bundle


def _edit(bundle: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def _chosen(**values: Any) -> Change:
    """Choices; `@` stands for the folder of canaries."""

    def change(bundle: Path, canaries: Path) -> None:
        text = json.dumps(values).replace("@", str(canaries))

        def choose(manifest: dict[str, Any]) -> None:
            manifest["recipe"]["chosen"].update(json.loads(text))
            settle_recipe(manifest)

        _edit(bundle, choose)

    return change


def _files(**values: Any) -> Change:
    def change(bundle: Path, canaries: Path) -> None:
        text = json.dumps(values).replace("@", str(canaries))
        _edit(bundle, lambda manifest: manifest["recipe"]["files"].update(json.loads(text)))

    return change


def _option(*words: str) -> Change:
    return _chosen(qemu_options=list(words))


def _manifest(**values: Any) -> Change:
    def change(bundle: Path, canaries: Path) -> None:
        text = json.dumps(values).replace("@", str(canaries))
        _edit(bundle, lambda manifest: manifest.update(json.loads(text)))

    return change


def _live(change: Change) -> Change:
    def both(bundle: Path, canaries: Path) -> None:
        path = bundle.parent
        shutil.rmtree(bundle)
        make_recorded(make_bundle(path, live=True), live=True)
        change(bundle, canaries)

    return both


def _linked(name: str, target: str) -> Change:
    """A symbolic link in place of a file of the bundle."""

    def change(bundle: Path, canaries: Path) -> None:
        path = bundle / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target.replace("@", str(canaries)))

    return change


def _pipe(name: str) -> Change:
    def change(bundle: Path, canaries: Path) -> None:
        (bundle / name).unlink()
        os.mkfifo(bundle / name)

    return change


def _folder(name: str) -> Change:
    def change(bundle: Path, canaries: Path) -> None:
        (bundle / name).unlink()
        (bundle / name).mkdir()

    return change


def _sparse(bundle: Path, canaries: Path) -> None:
    os.truncate(bundle / "calls.parquet", 1 << 40)


def _nested(bundle: Path, canaries: Path) -> None:
    (bundle / "manifest.json").write_text("[" * 100_000 + "]" * 100_000)


def _many_rows(bundle: Path, canaries: Path) -> None:
    """Some kilobytes that say 100 million rows."""
    rows = pl.int_range(100_000_001, dtype=pl.Int64).alias("row")
    pl.LazyFrame().select(rows).select(time_ns=pl.col("row") * 0).sink_parquet(bundle / "marks.parquet")
    digest = hashlib.sha256((bundle / "marks.parquet").read_bytes()).hexdigest()
    _edit(bundle, lambda manifest: manifest["tables"].update(marks={"rows": 100_000_001, "sha256": digest}))


KINDS: dict[str, Change] = {
    "QEMU is a program of its own": _chosen(qemu="@/program"),
    "QEMU that was used is a program of its own": _files(qemu="@/program"),
    "a debug console writes a file": _option("-debugcon", "file:@/new"),
    "a character device writes a file": _option("-chardev", "file,id=a,path=@/new"),
    "the firmware's configuration reads a file": _option("-fw_cfg", "name=opt/x,file=@/secret"),
    "a loader reads a file": _option("-device", "loader,file=@/secret"),
    "the loader's name comes last": _option("-device", "file=@/secret,driver=loader"),
    "memory is a file": _option("-object", "memory-backend-file,id=m,size=4M,share=off,mem-path=@/secret"),
    "the firmware is a file": _option("-bios", "@/secret"),
    "firmware lies in a folder": _option("-L", "@/folder"),
    "a plugin is loaded": _live(_option("-plugin", "@/program")),
    "a table of ACPI is a file": _option("-acpitable", "file=@/secret"),
    "a table of SMBIOS is a file": _option("-smbios", "file=@/secret"),
    "an option ROM is a file": _option("-option-rom", "@/secret"),
    "a splash screen is a file": _option("-boot", "splash=@/secret"),
    "a disk is a file": _live(_option("-drive", "file=@/secret,format=raw")),
    "a network runs a script": _live(_option("-netdev", "tap,id=n,script=@/program,downscript=@/program")),
    "a folder of the host is shared": _live(_option("-virtfs", "local,path=@/folder,mount_tag=a,security_model=none")),
    "a monitor listens": _live(_option("-monitor", "unix:@/socket,server=on,wait=off")),
    "a log is written": _live(_option("-D", "@/new", "-d", "exec")),
    "an option in JSON": _option("-device", '{"driver": "loader", "file": "@/secret"}'),
    "a property for all devices": _option("-global", "driver=loader,property=file,value=@/secret"),
    "a machine with its own firmware": _chosen(machine="pc-q35-7.2,firmware=@/secret"),
    "a processor with a path": _chosen(cpu="qemu64-v1,x=@/secret"),
    "a kernel of its own": _chosen(kernel="@/vmlinuz"),
    "the kernel that was used": _files(kernel="@/vmlinuz"),
    "an initramfs of its own": _chosen(initrd="@/secret"),
    "the initramfs that was used": _files(initrd="@/secret", image="@/root.img", loaded="@/secret"),
    "a root file system of its own": _chosen(rootfs="@/folder"),
    "an image of its own that the kernel mounts": _chosen(rootfs="@/root.img", root_as="ext4", ready="up"),
    "files laid over the guest's": _chosen(overlay="@/folder"),
    "files for the initramfs": _chosen(rootfs="debian", initramfs_files="@/folder"),
    "a command for the guest": _chosen(guest_commands=["cp @/secret /run/firstlight/export"]),
    "a table is a link": _linked("facts.parquet", "@/facts.parquet"),
    "the tree is a link": _linked("calls.parquet", "@/secret"),
    "the manifest is a link": _linked("manifest.json", "@/secret"),
    "raw evidence is a link": _linked("raw/report.bin", "@/secret"),
    "what the guest left is a link": _linked("raw/guest-files/note", "../../../canaries/secret"),
    "the folder of raw evidence is a link": _linked("raw", "@/folder"),
    "a table is a device": _linked("marks.parquet", "/dev/zero"),
    "a table is a pipe": _pipe("spans.parquet"),
    "the manifest is a pipe": _pipe("manifest.json"),
    "the manifest is a folder": _folder("manifest.json"),
    "a table is a folder": _folder("spans.parquet"),
    "a table lies elsewhere": _manifest(tables={"../../canaries/facts": {"rows": 1, "sha256": "0" * 64}}),
    "a table has an absolute path": _manifest(tables={"@/facts": {"rows": 1, "sha256": "0" * 64}}),
    "a digest is a path": _manifest(digests={"kernel": "../../canaries/secret", "initrd": "@/secret"}),
    "a source is a path": _manifest(sources=[
        {"file": "../../canaries/secret", "name": "@/secret", "sha256": "0" * 64, "size_bytes": 9, "format": "printk",
         "part": "", "clock": "printk", "fit": None, "parsed": 1, "problems": []}]),
    "the command to repeat it is another": _manifest(reproduce="rm -r @; @/program"),
    "a table of a terabyte without content": _sparse,
    "a table of 100 million rows in a few bytes": _many_rows,
    "a manifest nested 100,000 deep": _nested,
}  # fmt: skip
"""Every kind."""

#: Those that change what lies in the bundle, and so concern whoever reads it.
CONTENTS = frozenset(kind for kind in KINDS if "link" in kind or "table" in kind or "manifest" in kind) - {
    "a table of ACPI is a file", "a table of SMBIOS is a file",
}  # fmt: skip
