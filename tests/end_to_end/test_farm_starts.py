"""A worker as it is started elsewhere: by ssh, on a store behind ssh.

The server runs on this machine alone, with keys of its own. Where it is not installed, the test is skipped.
"""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import firstlight
from farm_plans import TWO_BOOTS
from firstlight.farm.store import open_store
from servers import answers, ended, free_port, wait_for

pytestmark = pytest.mark.boot

WORK = f"{shlex.quote(sys.executable)} -m firstlight work"


@pytest.fixture
def lab1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A host `lab1` for `ssh`, which is this machine."""
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    server = Path("/usr/lib/openssh/sftp-server")
    if sshd is None or not server.exists():
        pytest.skip("no sshd is installed")
    Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    shutil.copy(tmp_path / "user.pub", tmp_path / "authorized")
    programs = tmp_path / "bin"
    programs.mkdir()
    path = f"{programs}:{os.environ['PATH']}"
    port = free_port()
    (tmp_path / "sshd").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/authorized\n"
        f"PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nSubsystem sftp {server}\n"
        f"SetEnv PATH={path} PYTHONPATH={os.environ.get('PYTHONPATH', '')} "
        f"XDG_CACHE_HOME={tmp_path}/cache-of-lab1\n"
    )
    key = (tmp_path / "host.pub").read_text().split()
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {key[0]} {key[1]}\n")
    (tmp_path / "config").write_text(
        f"Host lab1\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {tmp_path}/user\n"
        f"  IdentitiesOnly yes\n  UserKnownHostsFile {tmp_path}/known\n  StrictHostKeyChecking yes\n"
    )
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/config "$@"\n')
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", path)
    with ended([sshd, "-D", "-e", "-f", str(tmp_path / "sshd")]) as [child]:
        wait_for(lambda: answers(port), child)
        yield


def test_a_worker_started_by_ssh_on_a_store_behind_ssh(
    lab1: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstlight.experiment.boot_cache.is_cached", lambda key: False)
    plan = tmp_path / "plan.toml"
    plan.write_text(TWO_BOOTS)
    location = f"sftp://lab1{tmp_path}/store"
    open_store(location, make=True)
    command = ["ssh", "lab1", f"{WORK} {location} --name lab1 --wait 20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        wait_for(lambda: open_store(location).names("workers") == ["lab1.json"])
        with firstlight.boots_by(location):
            results = firstlight.run_experiment(plan)
        said = worker.communicate(timeout=120)[0]
    assert [cell.problem for cell in results.cells] == [None, None]
    assert said.startswith("lab1: 2 boots, 0 failed")
    assert (tmp_path / "store/store.json").is_file()
    assert not [each for each in (tmp_path / "store").rglob(".*") if each.is_file()]
