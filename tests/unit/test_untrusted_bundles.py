"""A bundle that was not recorded here: what of its recipe is used, and what has to be given again or trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bundles import make_bundle, make_recorded
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.open import read_manifest
from firstlight.errors import FirstlightError
from firstlight.lab.host.made_here import known_input, made_here, remember
from firstlight.lab.run.options_from_manifest import options_from_manifest
from firstlight.recipe.options import RecordOptions
from firstlight.recipe.recipe import Files

OUTPUT = Path("again.boot")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def recorded(tmp_path: Path, **chosen: Any) -> Manifest:
    return read_manifest(make_recorded(make_bundle(tmp_path), **chosen))


def again(manifest: Manifest, **how: Any) -> RecordOptions:
    return options_from_manifest(manifest, OUTPUT, "a.boot", **how)


class TestABundleFromHere:
    def test_is_known_by_its_manifest_and_booted_as_it_was(self, tmp_path: Path) -> None:
        manifest = recorded(tmp_path, overlay="/files", qemu="/opt/qemu", guest_commands=["sync"])
        assert not made_here(manifest)
        remember(manifest.file_digest, Files(kernel=Path("/k")), {})
        assert made_here(manifest)
        assert again(manifest) == RecordOptions(
            OUTPUT, overlay=Path("/files"), qemu=Path("/opt/qemu"), guest_commands=("sync",), cpu="Nehalem"
        )

    def test_is_a_strangers_once_a_byte_of_its_manifest_is_another(self, tmp_path: Path) -> None:
        manifest = recorded(tmp_path)
        remember(manifest.file_digest, Files(kernel=Path("/k")), {})
        path = tmp_path / "a.boot" / "manifest.json"
        path.write_text(path.read_text() + " ")
        assert not made_here(read_manifest(tmp_path / "a.boot"))

    def test_is_a_strangers_where_others_may_write_into_the_record(self, tmp_path: Path) -> None:
        manifest = recorded(tmp_path)
        remember(manifest.file_digest, Files(kernel=Path("/k")), {})
        (tmp_path / "cache" / "firstlight" / "recorded-here").chmod(0o777)
        assert not made_here(manifest)


class TestAStrangersBundle:
    @pytest.mark.parametrize(
        "chosen",
        [
            {"kernel": "/boot/vmlinuz"},
            {"initrd": "/i.cpio"},
            {"rootfs": "/home"},
            {"overlay": "/home"},
            {"initramfs_files": "/home"},
            {"guest_commands": ["poweroff"]},
            {"machine": "pc-q35-7.2,firmware=/etc/passwd"},
            {"machine": "pc-q35-7.2,memory-backend=on/off"},
            {"cpu": "EPYC,x=/etc/passwd"},
            *(
                {"qemu_options": words.split(" ", 1)}
                for words in (
                    "-debugcon file:/tmp/x",
                    "-chardev file,id=a,path=/tmp/x",
                    "-fw_cfg name=opt/x,file=/etc/passwd",
                    "-device loader,file=/etc/passwd",
                    "-device virtio-net-pci,romfile=/etc/passwd",
                    "-device pvpanic,id=/x",
                    "-device driver=pvpanic,driver=loader",
                    "-object memory-backend-file,id=a,size=4M,mem-path=/tmp/x",
                    "-smbios file=/etc/passwd",
                    "-smbios type=11,path=/etc/passwd",
                    "-boot splash=/etc/passwd",
                    "-acpitable file=/etc/passwd",
                    "-bios /etc/passwd",
                    "-L /tmp",
                    "-option-rom /etc/passwd",
                    "-dtb /etc/passwd",
                    "-global driver=loader,property=file,value=/x",
                    "-parallel file:/tmp/x",
                    "-netdev user,id=n",
                    "-name a,process=x",
                    "-unheard of",
                    "no option",
                )
            ),
        ],
        ids=lambda chosen: json.dumps(chosen),
    )
    def test_gets_no_file_no_command_and_no_back_end(self, tmp_path: Path, chosen: dict[str, Any]) -> None:
        manifest = recorded(tmp_path, **chosen)
        with pytest.raises(FirstlightError, match="was not recorded here") as caught:
            again(manifest)
        assert "--trust" in str(caught.value.hint)
        if "qemu_options" not in chosen or chosen["qemu_options"][0].startswith("-"):
            again(manifest, trust=True)

    def test_gets_words_that_reach_nothing_but_the_guest(self, tmp_path: Path) -> None:
        harmless = {
            "append": "quiet",
            "cpu": "EPYC-v1,+rdrand,-x2apic",
            "machine": "pc-q35-7.2,hpet=off",
            "memory": "1G",
            "rootfs": "debian",
            "qemu_options": [
                "-usb",
                "-smbios",
                "type=1,serial=7",
                "-device pcie-root-port,id=a,chassis=1",
                "-nic none",
            ],
        }
        found = again(recorded(tmp_path, **harmless))
        assert (found.cpu, found.append, found.rootfs) == (harmless["cpu"], "quiet", "debian")
        assert found.qemu_options == tuple(harmless["qemu_options"])

    def test_never_names_the_program_that_runs(self, tmp_path: Path) -> None:
        manifest = recorded(tmp_path, qemu="/tmp/evil")
        assert again(manifest).qemu is None
        assert again(manifest, trust=True).qemu is None
        assert again(manifest, given={"qemu": Path("/opt/mine")}).qemu == Path("/opt/mine")

    def test_loads_no_plugin_even_when_it_is_trusted(self, tmp_path: Path) -> None:
        with pytest.raises(FirstlightError, match="names a program"):
            again(recorded(tmp_path, qemu_options=["-plugin", "/tmp/evil.so"]), trust=True)

    def test_takes_files_that_are_given_again(self, tmp_path: Path) -> None:
        manifest = recorded(tmp_path, kernel="/k", rootfs="/home", overlay="/o")
        given = {"kernel": Path("mine"), "rootfs": "my-root", "overlay": Path("my-overlay"), "initrd": None}
        found = again(manifest, given=given)
        assert (found.kernel, found.rootfs, found.overlay) == (Path("mine"), "my-root", Path("my-overlay"))

    def test_takes_a_kernel_that_was_used_here_before_by_its_digest(self, tmp_path: Path) -> None:
        kernel = tmp_path / "my-kernel"
        kernel.write_bytes(b"kernel")
        manifest = recorded(tmp_path, kernel="/somewhere/else")
        digest = manifest.digests["kernel"]
        remember("0" * 64, Files(kernel=kernel), {"kernel": digest})
        assert known_input(digest) == kernel
        assert again(manifest).kernel == kernel

    def test_a_digest_that_is_a_path_leads_nowhere(self) -> None:
        assert known_input("../../../etc/passwd") is None
        assert known_input("") is None
