"""Which option puts which file into a kernel, and where a function is defined."""

from __future__ import annotations

from pathlib import Path

from firstlight.lab.kernel.definitions import definitions, files_that_ran
from firstlight.lab.kernel.makefiles import SourceFile, source_files

MAKEFILES = {
    "fs/Makefile": "obj-y := open.o namei.o\nobj-$(CONFIG_EXT4_FS) += ext4/\nobj-$(CONFIG_FUSE_FS)\t+= fuse/ # later\n",
    "fs/ext4/Makefile": "obj-$(CONFIG_EXT4_FS) += ext4.o\next4-y := super.o \\\n\tinode.o\n"
    "ext4-$(CONFIG_EXT4_FS_POSIX_ACL) += acl.o\n",
    "fs/fuse/Makefile": "obj-$(CONFIG_FUSE_FS) += fuse.o\nobj-$(CONFIG_VIRTIO_FS) += virtiofs.o\nfuse-objs := dev.o\n"
    "virtiofs-y := virtio_fs.o\n",
    "kernel/Makefile": "ifdef CONFIG_SMP\nobj-y += smp.o\nelse\nobj-y += up.o\nendif\nifeq ($(CONFIG_TREE_RCU),y)\n"
    "obj-$(CONFIG_TRACE) += rcu-trace.o\nendif\nifneq ($(CC),gcc)\nobj-y += other.o\nendif\nCFLAGS_smp.o := -O3\n",
    "arch/toy/Kbuild": "obj-y += kernel/\nobj-$(CONFIG_TOY) += arch/toy/far/\n",
    "arch/toy/kernel/Makefile": "obj-y := head_$(BITS).o\n",
    "arch/toy/far/Makefile": "obj-y := far.o\n",
}


def tree(folder: Path) -> Path:
    for name, text in MAKEFILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_every_file_knows_the_options_that_it_needs_and_its_module(tmp_path: Path) -> None:
    found = {each.path: each for each in source_files(tree(tmp_path), "toy")}
    assert found["fs/open"] == SourceFile("fs/open", (), "open")
    assert found["fs/ext4/super"].options == ("EXT4_FS",)
    assert found["fs/ext4/inode"].module == "ext4"
    assert found["fs/ext4/acl"].options == ("EXT4_FS", "EXT4_FS_POSIX_ACL")
    assert found["fs/fuse/virtio_fs"].options == ("FUSE_FS", "VIRTIO_FS")
    assert found["fs/fuse/virtio_fs"].module == "virtiofs"
    assert found["kernel/smp"].options == ("SMP",)
    assert found["kernel/up"].options == ()
    assert found["kernel/rcu-trace"].options == ("TREE_RCU", "TRACE")
    assert found["kernel/rcu-trace"].module == "rcu_trace"
    assert found["kernel/other"].options == ()
    assert found["arch/toy/kernel/head_$(BITS)"].folder == "arch/toy"
    assert found["arch/toy/far/far"].options == ("TOY",)


def test_functions_are_found_without_compiling(tmp_path: Path) -> None:
    (tmp_path / "fs").mkdir()
    (tmp_path / "fs/a.c").write_text(
        "/* init( */\nstatic __always_inline int\nhelper(int x)\n{\n\tother(x);\n}\n"
        "SYSCALL_DEFINE2(open, const char *, n, int, f)\n{\n}\nstatic int __init init(void)\n{\n}\n"
    )
    (tmp_path / "fs/b.c").write_text("static int __init init(void)\n{\n}\nint alone(void)\n{\n}\n")
    (tmp_path / "fs/head_64.S").write_text("SYM_CODE_START_NOALIGN(startup)\n")
    defined = definitions(tmp_path, ["fs/a", "fs/b", "fs/head_$(BITS)", "fs/missing"])
    assert defined["helper"] == {"fs/a"}
    assert defined["init"] == {"fs/a", "fs/b"}
    assert defined["startup"] == {"fs/head_$(BITS)"}
    assert "other" not in defined
    assert files_that_ran(["__x64_sys_open"], defined) == {"fs/a"}
    assert files_that_ran(["init", "alone.constprop.0"], defined) == {"fs/b"}
    assert files_that_ran(["init"], defined) == {"fs/a", "fs/b"}
