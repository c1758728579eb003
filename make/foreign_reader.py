"""Runs the wheel for Linux on aarch64 under QEMU's user emulation, and compares what it prints with this machine's.

`make foreign-reader` calls it: make/foreign_reader.py WHEEL. A Debian with Python is extracted into
.build/foreign-reader, the wheel and its locked requirements are installed there, and each command below runs in it and
here on the same files.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from firstlight.lab.host.foreign_programs import foreign_command
from firstlight.recipe.isa import architecture_of

ROOT = Path(__file__).resolve().parents[1]
FOREIGN = ROOT / ".build/foreign-reader"
LOG = """\
[    0.000000] Linux version 6.12.0
[    0.400000] calling  pci_init+0x0/0x80 @ 1
[    0.412000] initcall pci_init+0x0/0x80 returned 0 after 12000 usecs
[    1.100000] Freeing unused kernel image (initmem) memory: 2048K
[    1.110000] Run /sbin/init as init process
[    1.300000] systemd[1]: Detected architecture arm64.
"""
AARCH64 = architecture_of("aarch64")
COMMANDS = (
    ("import", "log.txt", "-o", "log.boot", "--force"),
    ("show", "log.boot"),
    ("explain", "log.boot"),
    ("show", "a.boot"),
    ("explain", "a.boot"),
    ("functions", "a.boot"),
    ("path", "a.boot"),
    ("compare", "a.boot", "b.boot"),
)


def main(wheel: Path) -> int:
    """Compare every command's output; returns 1 where one differs."""
    _install(wheel)
    for name, words in {"a.boot": (), "b.boot": ("--append", "quiet")}.items():
        if not (FOREIGN / name).exists():
            subprocess.run([sys.executable, "-m", "firstlight", "record", "-o", FOREIGN / name, *words], check=True)
    (FOREIGN / "log.txt").write_text(LOG, encoding="utf-8")
    differing = 0
    for command in COMMANDS:
        words = [*command, "--json"]
        here = _output([sys.executable, "-m", "firstlight", *words], FOREIGN)
        there = _output(foreign_command(AARCH64, _in_root(words)), FOREIGN)
        same = here == there
        differing += not same
        print(f"{'equal' if same else 'DIFFERS'}  {len(here):>9,} bytes  firstlight {' '.join(words)}", flush=True)
    _output(foreign_command(AARCH64, _in_root(["report", "a.boot", "-o", "a.html", "--force"])), FOREIGN)
    print(f"report   {(FOREIGN / 'a.html').stat().st_size:>9,} bytes  firstlight report a.boot -o a.html")
    return 1 if differing else 0


def _install(wheel: Path) -> None:
    if not (FOREIGN / "usr/bin/python3").exists():
        shutil.rmtree(FOREIGN, ignore_errors=True)
        FOREIGN.parent.mkdir(exist_ok=True)
        packages = "--include=python3,libstdc++6"
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64", packages, "bookworm", FOREIGN],
            check=True,
        )
    shutil.rmtree(FOREIGN / "site", ignore_errors=True)
    install = [
        ROOT / ".build/uv/bin/uv", "pip", "install", "--quiet", "--target", FOREIGN / "site", "--only-binary", ":all:",
        "--python-version", "3.11", "--python-platform", "aarch64-manylinux_2_28",
    ]  # fmt: skip
    subprocess.run([*install, "--require-hashes", "-r", ROOT / "requirements-reader.txt"], check=True)
    subprocess.run([*install, "--no-deps", wheel], check=True)


def _in_root(words: list[str]) -> list[str]:
    program = "import sys; sys.path.insert(0, '/site'); from firstlight.cli import main; main()"
    return ["chroot", str(FOREIGN), "/usr/bin/python3", "-c", program, *words]


def _output(command: list[str], folder: Path) -> bytes:
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
