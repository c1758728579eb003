"""What breaks exactness is refused by name, with the remedy; what does not is let through."""

from __future__ import annotations

import pytest

from firstlight.errors import UsageError
from firstlight.lab.qemu.emulator import explain_rejection
from firstlight.lab.qemu.validation import validate_cpu, validate_machine, validate_options
from firstlight.recipe.isa.x86_64 import X86_64

BREAKS_EXACTNESS = [
    ("-drive file=a.img,if=virtio", "--rootfs"),
    ("-drive file=a.img,if=none -device virtio-blk-pci,drive=a", "--rootfs"),
    ("-blockdev driver=file,filename=a.img,node-name=a", "--rootfs"),
    ("-hda a.img", "--rootfs"),
    ("-cdrom a.iso", "--rootfs"),
    ("-device virtio-blk-pci,drive=a", "--rootfs"),
    ("-device ide-hd,drive=a", "--rootfs"),
    ("-device nvme,drive=a,serial=1", "--rootfs"),
    ("-device usb-storage,drive=a", "--rootfs"),
    ("-device scsi-hd,drive=a", "--rootfs"),
    ("-device virtio-rng-pci", "virtio-rng"),
    ("-object rng-random,id=r,filename=/dev/urandom", "-seed 1"),
    ("-netdev user,id=n", "--live"),
    ("-nic user", "--live"),
    ("-net nic", "--live"),
    ("-device e1000e", "--live"),
    ("-device virtio-net-pci,netdev=n", "--live"),
    ("-smp 2", "--cpus"),
    ("-smp cpus=4", "--cpus"),
    ("-icount shift=1,sleep=on", "--shift"),
    ("-rtc base=utc", "2024-01-01"),
    ("-accel kvm", "--live"),
    ("-enable-kvm", "--live"),
    ("-virtfs local,path=/,mount_tag=r,security_model=none", "--rootfs"),
    ("-fsdev local,id=f,path=/", "--rootfs"),
    ("-device vhost-user-fs-pci,chardev=c,tag=t", "--rootfs"),
    ("-object memory-backend-file,id=m,mem-path=a.img,size=1M,share=on", "--rootfs"),
    ("-device vfio-pci,host=00:01.0", "--live"),
    ("-device usb-host,hostbus=1", "--live"),
    ("-snapshot", "leave it out"),
    ("-monitor stdio", "--live"),
    ("-qmp unix:a.sock,server", "--live"),
    ("-gdb tcp::1234", "--live"),
    ("-s", "--live"),
    ("-chardev socket,id=c,path=a.sock", "-chardev file"),
    ("-vnc :0", "--live"),
    ("-device virtio-keyboard-pci", "--live"),
    ("-plugin libhotblocks.so", "leave it out"),
    ("--device virtio-rng-pci", "virtio-rng"),
    ("-device driver=virtio-rng-pci", "virtio-rng"),
    ("-device id=r,driver=virtio-rng-pci", "virtio-rng"),
    ("-object id=r,qom-type=rng-random,filename=/dev/urandom", "-seed 1"),
    ("-chardev file,id=c,path=out.txt,input-path=in.txt", "input-path"),
    ("-usbdevice tablet", "-device"),
    ("-device intel-hda", "--live"),
    ("-iscsi initiator-name=a", "--rootfs"),
    ("-object memory-backend-file,id=m,mem-path=a.img,size=1M,discard-data=on", "--rootfs"),
]

BREAKS_THE_LAUNCHER = [
    ("-kernel bzImage", "--kernel"),
    ("-initrd a.cpio", "--initrd"),
    ("-append quiet", "--append"),
    ("-m 2G", "--memory"),
    ("-M q35", "--machine"),
    ("-cpu max", "--cpu"),
    ("-serial stdio", "leave it out"),
    ("-nographic", "leave it out"),
    ("-S", "leave it out"),
    ("-daemonize", "leave it out"),
    ("-readconfig a.cfg", "give its options"),
    ("-no-shutdown", "leave it out"),
    ("-action shutdown=pause", "leave it out"),
    ("-watchdog-action pause", "poweroff"),
    ("-chroot empty", "leave it out"),
    ("-runas nobody", "run Firstlight as that user"),
    ("-run-with user=nobody", "run Firstlight as that user"),
    ("-sandbox on", "leave it out"),
    ("-d exec", "--dry-run"),
    ("-D qemu.txt", "--dry-run"),
    ("-trace events=a.txt", "--dry-run"),
    ("-preconfig", "leave it out"),
    ("-qtest unix:a.sock", "leave it out"),
    ("-add-fd fd=3,set=1", "by its path"),
    ("-set device.a.drive=b", "with the option"),
    ("-global virtio-blk-pci.drive=a", "-device"),
    ("-global driver=tcg-accel,property=thread,value=multi", "-device"),
    ("-mem-path ram.img", "leave it out"),
    ("-device help", "run QEMU itself"),
    ("-object ?", "run QEMU itself"),
    ('-device {"driver":"virtio-rng-pci"}', "property=value"),
]

HARMLESS = [
    "",
    "-smbios type=1,serial=7",
    "-fw_cfg name=opt/a,string=b",
    "-device isa-debugcon,iobase=0x402",
    "-global ICH9-LPC.disable_s3=1",
    "-smp 1",
    "-net none",
    "-nic none",
    "-display none",
    "-name lab",
    "-chardev file,id=c,path=out.txt",
    "-object memory-backend-ram,id=m,size=1M",
    "-object memory-backend-file,id=m,mem-path=a.img,size=1M,share=off",
]


@pytest.mark.parametrize(("words", "remedy"), BREAKS_EXACTNESS)
def test_an_option_that_breaks_exactness_is_refused_with_its_remedy(words: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        validate_options(words.split(), live=False)
    assert refused.value.exit_code == 2
    assert "breaks exactness" in refused.value.message
    assert words.split()[0].lstrip("-") in refused.value.message
    assert remedy in (refused.value.hint or "")


@pytest.mark.parametrize(("words", "remedy"), BREAKS_THE_LAUNCHER)
@pytest.mark.parametrize("live", [False, True])
def test_an_option_that_firstlight_sets_itself_is_refused_in_both_modes(words: str, remedy: str, live: bool) -> None:
    with pytest.raises(UsageError) as refused:
        validate_options(words.split(), live=live)
    assert remedy in (refused.value.hint or "")


@pytest.mark.parametrize("words", HARMLESS)
def test_an_option_that_changes_the_machine_steadily_is_let_through(words: str) -> None:
    validate_options(words.split(), live=False)


def test_an_option_that_nobody_looked_at_is_refused_in_exact_mode_only() -> None:
    with pytest.raises(UsageError, match="does not know what this option does"):
        validate_options(["-xen-domid", "3"], live=False)
    validate_options(["-xen-domid", "3"], live=True)


def test_an_option_and_its_value_may_stand_in_one_word() -> None:
    with pytest.raises(UsageError, match="`-smp 4` breaks exactness"):
        validate_options(["-smp 4"], live=False)
    validate_options(["-smp 1"], live=False)


def test_a_device_of_the_host_is_no_disk() -> None:
    with pytest.raises(UsageError, match="a device of the host answers in its own time"):
        validate_options(["-device", "vhost-vsock-pci,guest-cid=3"], live=False)


def test_a_machine_that_qemu_does_not_know_is_told_from_one_without_a_version() -> None:
    known = {"pc-q35-7.2", "pc-q35-7.1", "q35"}
    with pytest.raises(UsageError, match="does not know the machine type") as refused:
        validate_machine("pc-q35-7.3", X86_64, known, live=True)
    assert "`pc-q35-7.2`" in (refused.value.hint or "")
    with pytest.raises(UsageError, match="has no version"):
        validate_machine("q35", X86_64, known, live=False)


def test_live_mode_takes_what_only_breaks_exactness() -> None:
    validate_options(["-nic", "user", "-device", "virtio-rng-pci", "-smp", "2"], live=True)


@pytest.mark.parametrize("words", [["disk.img"], ["-device"], ["--"]])
def test_what_is_no_option_of_qemu_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        validate_options(words, live=False)


@pytest.mark.parametrize(
    "machine", ["q35", "pc", "microvm,accel=kvm", "none", "pc-q35-7.2,accel=kvm", "pc-q35-7.2,firmware=f"]
)
def test_machines_that_are_not_the_same_everywhere_are_refused(machine: str) -> None:
    with pytest.raises(UsageError, match="breaks exactness"):
        validate_machine(machine, X86_64, live=False)


@pytest.mark.parametrize(
    "machine", ["pc-q35-7.2", "pc-i440fx-7.1", "pc-q35-10.0", "pc-q35-7.2,hpet=off", "microvm", "microvm,pit=off"]
)
def test_versioned_machines_are_taken(machine: str) -> None:
    validate_machine(machine, X86_64, live=False)


@pytest.mark.parametrize("cpu", ["host", "max", "max,-avx", "qemu64-v1,host-cache-info=on", "Nehalem-v1,migratable=no"])
def test_processors_that_depend_on_the_host_are_refused(cpu: str) -> None:
    with pytest.raises(UsageError, match="breaks exactness"):
        validate_cpu(cpu, X86_64, live=False)


@pytest.mark.parametrize("cpu", ["qemu64-v1", "Nehalem-v1", "Nehalem-v1,+rdrand"])
def test_named_processors_are_taken(cpu: str) -> None:
    validate_cpu(cpu, X86_64, live=False)


@pytest.mark.parametrize("cpu", ["486", "pentium3-v1", "qemu32", "n270-v1,+ssse3", "kvm32"])
@pytest.mark.parametrize("live", [True, False])
def test_processors_of_32_bits_are_refused(cpu: str, live: bool) -> None:
    with pytest.raises(UsageError, match="it is a 32-bit processor"):
        validate_cpu(cpu, X86_64, live=live)


@pytest.mark.parametrize("live", [True, False])
def test_features_without_a_processor_are_refused(live: bool) -> None:
    with pytest.raises(UsageError, match="`--cpu ,\\+aes` names no CPU model"):
        validate_cpu(",+aes", X86_64, live=live)


@pytest.mark.parametrize(
    ("cpu", "log", "message"),
    [
        ("nonsense", "unable to find CPU model 'nonsense'", "QEMU does not know the CPU model `nonsense`"),
        (
            "EPYC,+foo",
            "Property 'EPYC-x86_64-cpu.foo' not found",
            "QEMU does not know the feature `foo` of `--cpu EPYC,+foo`",
        ),
    ],
)  # fmt: skip
def test_a_processor_that_qemu_does_not_know_is_a_matter_of_usage(cpu: str, log: str, message: str) -> None:
    error = explain_rejection(f"qemu-system-x86_64: {log}", ["/bin/qemu", "-cpu", cpu])
    assert (error.message, error.hint, error.exit_code) == (message, "list them with `/bin/qemu -cpu help`", 2)


def test_what_qemu_refuses_for_another_reason_is_a_failure() -> None:
    error = explain_rejection("qemu-system-x86_64: no such thing", ["/bin/qemu", "-cpu", "EPYC"])
    assert (error.message, error.hint, error.exit_code) == ("QEMU did not start: no such thing", None, 1)
