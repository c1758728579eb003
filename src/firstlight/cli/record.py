"""`firstlight record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Append, ForceBundle, GuestCommand, Json, NewBundle, board_file
from firstlight.errors import UnhealthyBootError, UsageError


def record(
    ctx: typer.Context,
    output: NewBundle = Path("boot.boot"),
    force: ForceBundle = False,
    kernel: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Kernel: bzImage, vmlinux, zImage, arm64 or riscv64 Image (default: the distribution's kernel).",
        ),
    ] = None,
    arch: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Guest's processor architecture: amd64, arm64, armhf, mips64el, ppc64el or riscv64 "
            "(default: the kernel's).",
        ),
    ] = None,
    initrd: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Initramfs (default: Firstlight's minimal one, with busybox)."
        ),
    ] = None,
    rootfs: Annotated[
        str | None,
        typer.Option(metavar="DIR|IMAGE|TAR|debian", help="Root file system, attached as persistent memory."),
    ] = None,
    root_as: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="Let the kernel mount the root itself: ext4, squashfs-zstd, jffs2, cramfs-xip, …"
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL|FILE",
            help="With --rootfs: put it on a disk with latency, emmc, sd, spi-nor, sata or your own model.",
        ),
    ] = None,
    overlay: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="Files to add to the guest; `.wh.NAME` removes NAME."),
    ] = None,
    initramfs_files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="With --rootfs: files to add to the initramfs, which runs DIR/before-root.",
        ),
    ] = None,
    guest_command: GuestCommand = None,
    append: Append = "",
    loader: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Boot from power-on by firmware or a boot loader: ovmf (amd64), u-boot (arm64)."
        ),
    ] = None,
    loader_symbols: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="With --loader: its ELF file with symbols, to profile its functions."
        ),
    ] = None,
    dtb: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Device tree for QEMU's machine instead of its own (arm64, armhf, riscv64).",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Guest memory; a number without unit is MiB (default: 512M, 1G with --rootfs)."
        ),
    ] = None,
    cpu: Annotated[str | None, typer.Option(metavar="MODEL", help="CPU model, by its QEMU name.")] = None,
    cpus: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="Processors of the guest; in exact mode they take turns.")
    ] = 1,
    machine: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Machine type, by its versioned QEMU name, or microvm.")
    ] = None,
    shift: Annotated[
        int, typer.Option(metavar="N", min=0, max=10, help="One instruction takes 2^N ns of virtual time.")
    ] = 0,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Seed for the guest's random numbers.")
    ] = 1,
    initramfs_order: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed for another order of the files in Firstlight's own initramfs."),
    ] = None,
    ready: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="Regular expression of the console line that ends the boot (default: the guest's own mark).",
        ),
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile/--no-profile", help="Profile every function, or record only marks.")
    ] = True,
    devices: Annotated[
        bool,
        typer.Option("--devices", help="Record the probes of devices, their deferrals and suppliers, from outside."),
    ] = False,
    user_functions: Annotated[
        bool, typer.Option("--user-functions", help="Profile user mode, too: by process, file and function.")
    ] = False,
    symbols: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", readable=False, help="With --user-functions: debug files, which name functions by build id."
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Record by the host's clock, with KVM if it works; not exact.")
    ] = False,
    timeout_wall: Annotated[
        float,
        typer.Option("--timeout-wall", "--timeout", metavar="SECONDS", min=1, help="Stop after this much host time."),
    ] = 600.0,
    timeout_virtual: Annotated[
        float,
        typer.Option(
            "--timeout-virtual",
            "--virtual-timeout",
            metavar="SECONDS",
            min=0,
            help="Stop after this virtual time, at the next check (kernel entries, every 65,536 events); 0: never.",
        ),
    ] = 300.0,
    qemu: Annotated[
        Path | None, typer.Option(metavar="PATH", readable=False, help="QEMU executable (default: from PATH).")
    ] = None,
    qemu_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD", help="Additional QEMU argument (repeatable); options that break exactness are rejected."
        ),
    ] = None,
    board: Annotated[Path | None, board_file("Boot a real board instead of QEMU")] = None,
    repeat: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="With --board: number of boots, in the directory NAME.")
    ] = 1,
    warm_up: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=100,
            help="With --board: number of warm-up boots that do not count (default: 1 before several boots).",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print QEMU's command line and stop.")] = False,
    json: Json = False,
) -> None:
    """Record a boot in QEMU into a bundle, exactly unless --live is given.

    Without --kernel, --initrd and --rootfs, boot the distribution's cloud kernel with a minimal busybox initramfs. If
    the boot fails, Firstlight keeps what it recorded up to the failure and exits with code 4.

    \b
    Examples:
      firstlight record -o a.boot
      firstlight record --kernel vmlinuz --initrd initrd.img --append quiet --ready "login: " -o b.boot
      firstlight record --rootfs debian -o c.boot
      firstlight record --kernel bzImage --root-as squashfs-zstd -o d.boot
      firstlight record --rootfs debian --storage emmc -o h.boot
      firstlight record --no-profile -o e.boot
      firstlight record --rootfs debian --user-functions -o f.boot
      firstlight record --loader ovmf -o g.boot
      firstlight record --arch arm64 --dtb board.dtb --devices -o h.boot
      firstlight record --board lab.toml --repeat 12 -o base
    """
    if board is not None:
        _check_for_board(ctx)
        _record_board(
            board, output, json=json, repeat=repeat, warm_up=warm_up, append=append, kernel=kernel, initrd=initrd,
            rootfs=rootfs, force=force,
        )  # fmt: skip
        return
    if repeat != 1 or warm_up is not None:
        raise UsageError(f"`{'--repeat' if repeat != 1 else '--warm-up'}` needs `--board`",
                         hint="give `--board FILE`; an exact boot needs no repetition")  # fmt: skip
    options = api.RecordOptions(
        output=output,
        force=force,
        kernel=kernel,
        arch=arch,
        initrd=initrd,
        rootfs=rootfs,
        root_as=root_as,
        storage=storage,
        overlay=overlay,
        initramfs_files=initramfs_files,
        guest_commands=tuple(guest_command or ()),
        append=append,
        loader=loader,
        loader_symbols=loader_symbols,
        dtb=dtb,
        memory=memory,
        cpu=cpu,
        cpus=cpus,
        machine=machine,
        shift=shift,
        seed=seed,
        initramfs_order=initramfs_order,
        ready=ready,
        profile=profile,
        devices=devices,
        user_functions=user_functions,
        symbols=symbols,
        live=live,
        timeout_wall_s=timeout_wall,
        timeout_virtual_s=timeout_virtual or None,
        qemu=qemu,
        qemu_options=tuple(qemu_option or ()),
    )
    if dry_run:
        command = api.qemu_command(options, progress=True)
        if json:
            print_json({"command": command})
        else:
            print(command)
        return
    try:
        boot = api.record_with(options, progress=True)
    except UnhealthyBootError:
        if json:
            _print_summary(api.open(output))
        raise
    if json:
        _print_summary(boot)
    else:
        print(boot.directory)


_OF_BOARDS = frozenset(
    {"board", "output", "force", "repeat", "warm_up", "append", "kernel", "initrd", "rootfs", "json"}
)


def _check_for_board(ctx: typer.Context) -> None:
    """Reject the options that no board has.

    :raises UsageError: naming the first.
    """
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name)
        if name not in _OF_BOARDS and given is not None and given.name == "COMMANDLINE":
            hint = "what a board needs is in its file" if name in ("ready", "timeout_wall") else None
            raise UsageError(f"`{parameter.opts[0]}` is not for boards", where="--board", hint=hint)


def _record_board(
    board: Path, output: Path, *, json: bool, repeat: int, warm_up: int | None, append: str, kernel: Path | None,
    initrd: Path | None, rootfs: str | None, force: bool,
) -> None:  # fmt: skip
    recording = api.record_board(
        board, output, repeat=repeat, warm_up=warm_up, append=append, kernel=kernel, initrd=initrd, rootfs=rootfs,
        force=force, progress=True,
    )  # fmt: skip
    if json:
        print_json({"boots": [str(boot) for boot in recording.boots], "events": recording.events})
    else:
        for boot in recording.boots:
            print(boot)
    if len(recording.boots) < repeat:
        lost = repeat - len(recording.boots)
        raise UnhealthyBootError(f"{lost} of {repeat} boots did not come up", where=str(board),
                                 hint="the events above state the reason; the other boots are recorded")  # fmt: skip


def _print_summary(boot: api.Boot) -> None:
    manifest = boot.manifest.model_dump(mode="json")
    shown = ("mode", "status", "failure", "totals", "completeness", "invariants", "reproduce")
    print_json({"boot": str(boot.directory), **{name: manifest[name] for name in shown}})
