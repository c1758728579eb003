"""The classic studies, as `firstlight study` finds them."""

from firstlight.study import Study

UDEV_PTYS = Study(
    "udev-ptys",
    "What 256 legacy pseudo-terminals cost udev",
    "What does a device cost that the kernel makes ahead of any need, and who pays?",
    ("kernel", "debian"),
    "firstlight_studies.udev_ptys.run",
    "legacy pseudo-terminals",
)

LVM_ACTIVATION = Study(
    "lvm-activation",
    "Why event activation of LVM takes minutes with a thousand volumes",
    "How does the time until the last volume is active grow with the number of physical volumes?",
    ("kernel", "debian-storage"),
    "firstlight_studies.lvm_activation.run",
    "physical volumes",
)

KERNEL_HOTSPOTS = Study(
    "kernel-hotspots",
    "Which hot spots lie between start_kernel and init",
    "What do the classic hot spots of a kernel's start cost now, and what does each remedy save and break?",
    ("kernel",),
    "firstlight_studies.kernel_hotspots.run",
    architectures=("amd64", "arm64", "riscv64"),
)

TREE_WALK = Study(
    "tree-walk",
    "What one extra stat per directory costs a tree walk",
    "What is the penalty of one more stat for each directory, and which tools wake an automount?",
    ("kernel", "debian-programs"),
    "firstlight_studies.tree_walk.run",
    "shapes of trees, such as 20x20",
    architectures=("amd64", "arm64"),
    whole_images=("debian",),
)

ROOT_FILESYSTEMS = Study(
    "root-filesystems",
    "How root file systems compare",
    "From power on and from start_kernel to user space: what does the root file system decide?",
    ("kernel",),
    "firstlight_studies.root_filesystems.run",
    architectures=("amd64", "arm64"),
)
