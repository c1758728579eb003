"""The scripts that start workers on clusters: of Slurm on a cluster of this machine alone, of Kubernetes by its schema.

Where Slurm or the schemas are not installed, the test is skipped; `make farm-clusters` installs both.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import firstlight
from farm_plans import TWO_BOOTS
from firstlight.farm.store import open_store
from servers import answers, ended, free_port, wait_for

SCRIPTS = Path(__file__).parents[2] / "docs/guides/farm"
#: A node of two processors on this machine; each daemon keeps what it has in the directory.
CONFIGURATION = """\
ClusterName=farm
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={directory}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=16000 State=UNKNOWN
PartitionName=farm Nodes={host} Default=YES State=UP
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cluster of Slurm whose one node is this machine."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    programs = [shutil.which(name, path=path) for name in ("munged", "slurmctld", "slurmd", "sbatch")]
    munged, controller, node, sbatch = programs
    if munged is None or controller is None or node is None or sbatch is None or os.geteuid() != 0:
        pytest.skip("Slurm is not installed, or this is not root")
    host = socket.gethostname().partition(".")[0]
    ports = {"controller": free_port(), "node": free_port()}
    for name in ("state", "spool"):
        (tmp_path / name).mkdir()
    key = tmp_path / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    config = tmp_path / "slurm.conf"
    config.write_text(CONFIGURATION.format(host=host, directory=tmp_path, **ports))
    monkeypatch.setenv("SLURM_CONF", str(config))
    own = [f"--{name}-file={tmp_path}/munge.{name}" for name in ("pid", "log", "seed")]
    commands = [
        [munged, "--foreground", "--force", f"--key-file={key}", f"--socket={tmp_path}/munge.sock", *own],
        [controller, "-D", "-f", str(config)],
        [node, "-D", "-f", str(config), "-N", host],
    ]
    with ended(commands[0]) as [first]:
        wait_for(lambda: (tmp_path / "munge.sock").exists(), first)
        with ended(commands[1]) as [second]:
            wait_for(lambda: answers(ports["controller"]), second)
            with ended(commands[2]) as [third]:
                wait_for(lambda: state_of_node() == "idle", third)
                yield


def state_of_node() -> str:
    done = subprocess.run(["sinfo", "--noheader", "--format=%t"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.mark.boot
def test_slurm_starts_the_workers_of_an_array(slurm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.experiment.boot_cache.is_cached", lambda key: False)
    plan = tmp_path / "plan.toml"
    plan.write_text(TWO_BOOTS)
    store = tmp_path / "store"
    open_store(str(store), make=True)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(
        ["sbatch", "--array=1-2", f"--chdir={tmp_path}", SCRIPTS / "slurm.sh", store], env=environment, check=True
    )
    wait_for(lambda: len(open_store(str(store)).names("workers")) == 2)
    with firstlight.boots_by(str(store)):
        results = firstlight.run_experiment(plan)
    assert [cell.problem for cell in results.cells] == [None, None]
    subprocess.run(["scancel", "--name=firstlight"], check=True)
    wait_for(lambda: state_of_node() == "idle")
    said = [file.read_text() for file in sorted(tmp_path.glob("firstlight-*-*.log"))]
    assert len(said) == 2
    status = firstlight.farm_status(str(store))
    assert {worker.name.rpartition("-")[2] for worker in status.workers} == {"1", "2"}


def test_the_script_of_slurm_asks_for_a_store() -> None:
    done = subprocess.run([SCRIPTS / "slurm.sh"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: sbatch --array=1-8 slurm.sh STORE\n")


def test_kubernetes_accepts_the_manifest() -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="the schemas of Kubernetes are not installed")
    manifest = yaml.safe_load((SCRIPTS / "kubernetes.yaml").read_text())
    for version in ("1.33", validate.latest_version()):
        validate.validate(manifest, version, strict=True)
    worker = manifest["spec"]["template"]["spec"]["containers"][0]
    manifest["spec"]["template"]["spec"]["containers"] = [worker | {"imagee": worker["image"]}]
    with pytest.raises(validate.ValidationError):
        validate.validate(manifest, "1.33", strict=True)


def test_the_pods_of_the_manifest_can_do_nothing_but_boot() -> None:
    manifest = yaml.safe_load((SCRIPTS / "kubernetes.yaml").read_text())
    pod = manifest["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    (worker,) = pod["containers"]
    allowed = worker["securityContext"]
    assert (allowed["allowPrivilegeEscalation"], allowed["readOnlyRootFilesystem"]) == (False, True)
    assert allowed["capabilities"] == {"drop": ["ALL"]}
    assert {each["name"] for each in worker["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
