"""The calling-context tree of an invented boot: real names, invented figures, sums that hold."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

#: The phases of the invented boot, in order.
PHASES = [
    "firmware",
    "decompression",
    "kernel_entry",
    "early_init",
    "smp_init",
    *(
        f"initcalls_{level}"
        for level in ("pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device", "late")
    ),
    "run_init",
    "user",
]

EARLY_INIT = {
    "setup_arch": ["e820__memory_setup", "init_mem_mapping", "acpi_boot_table_init", "x86_numa_init", "paging_init"],
    "mm_init": ["mem_init", "kmem_cache_init", "vmalloc_init"],
    "sched_init": ["init_idle", "__sched_fork"],
    "trap_init": ["cpu_init_exception_handling"],
    "rcu_init": ["rcu_init_geometry"],
    "time_init": ["tsc_early_init", "x86_late_time_init"],
    "setup_boot_APIC_clock": ["calibrate_APIC_clock", "apic_write"],
    "vfs_caches_init": ["dcache_init", "inode_init", "mnt_init"],
}

INITCALLS = {
    "pure": ["ipc_ns_init", "init_mmap_min_addr"],
    "core": ["debugfs_init", "cpufreq_core_init", "wq_sysfs_init", "ksysfs_init"],
    "postcore": ["bdi_class_init", "mm_sysfs_init", "tty_class_init"],
    "arch": ["bts_init", "pt_init", "acpi_pci_init", "pci_arch_init"],
    "subsys": ["topology_init", "uid_cache_init", "acpi_init", "pci_subsys_init", "raid6_select_algo"],
    "fs": ["nmi_warning_debugfs", "hpet_late_init", "clocksource_done_booting", "inet_init", "af_unix_init"],
    "rootfs": ["populate_rootfs", "pci_iommu_init"],
    "device": ["serial8250_init", "dh_init", "loop_init", "virtio_net_driver_init.isra.0", "tcp_cubic_module_init"],
    "late": ["load_system_certificate_list", "clk_disable_unused", "init_oops_id"],
}

# What an initcall commonly does, from the outermost call to the innermost.
CHAINS = [
    ["driver_register", "bus_add_driver", "driver_attach", "__driver_attach"],
    ["kmem_cache_create", "kmem_cache_alloc_trace", "___slab_alloc.constprop.0"],
    ["platform_device_register_full", "platform_device_add", "device_add", "kobject_add"],
    ["proc_create_data", "__proc_create", "kmem_cache_alloc"],
]


@dataclass
class Node:
    """One node of the tree; what it does by itself is kept by phase."""

    function: str
    parent: int | None
    kind: str = "function"
    module: str | None = None
    calls: dict[str, int] = field(default_factory=dict)
    instructions: dict[str, int] = field(default_factory=dict)
    ns: dict[str, int] = field(default_factory=dict)


class Tree:
    """A tree that grows from its root; one instruction takes ``2 ** shift`` ns."""

    def __init__(self, seed: int, shift: int) -> None:
        self.random = random.Random(seed)
        self.shift = shift
        self.nodes: list[Node] = [Node("[boot]", None, "root")]

    def add(self, function: str, parent: int, phase: str, instructions: int, **more: str | int | None) -> int:
        """Add a node that executes *instructions* in *phase*; returns its number."""
        calls = more.pop("calls", 1)
        node = Node(function, parent, str(more.pop("kind", "function")), **more)  # type: ignore[arg-type]
        self.nodes.append(node)
        number = len(self.nodes) - 1
        self.spend(number, phase, instructions, int(calls or 0))
        return number

    def spend(self, number: int, phase: str, instructions: int, calls: int = 0) -> None:
        """Let a node execute more in another phase."""
        node = self.nodes[number]
        for table, value in (
            (node.calls, calls),
            (node.instructions, instructions),
            (node.ns, instructions << self.shift),
        ):
            table[phase] = table.get(phase, 0) + value

    def some(self, low: int, high: int) -> int:
        """An invented number of instructions."""
        return self.random.randrange(low, high)


def boot_tree(
    seed: int = 1, shift: int = 0, initcall_children: int = 4
) -> tuple[Tree, dict[str, list[tuple[str, int]]]]:
    """Grow the tree of a whole boot; returns it and, by level, each initcall with its node."""
    tree = Tree(seed, shift)
    some = tree.some
    tree.add("[firmware]", 0, "firmware", 12_412_887, kind="firmware")
    tree.add("[decompressor]", 0, "decompression", 96_112_004, kind="decompressor")
    tree.add("[kernel without symbol]", 0, "kernel_entry", 21_377, kind="unknown")
    boot = tree.add("x86_64_start_kernel", 0, "kernel_entry", 40_210, kind="task")
    start = tree.add("start_kernel", boot, "early_init", 8_120)
    for function, callees in EARLY_INIT.items():
        node = tree.add(function, start, "early_init", some(1_000, 90_000))
        for callee in callees:
            busy = some(50_000_000, 60_000_000) if callee == "calibrate_APIC_clock" else some(5_000, 4_000_000)
            inner = tree.add(callee, node, "early_init", busy, calls=some(1, 400))
            tree.add("memset_erms", inner, "early_init", some(500, 60_000), calls=some(1, 90))
    kernel_init = tree.add("kernel_init", 0, "smp_init", 2_310, kind="task")
    freeable = tree.add("kernel_init_freeable", kernel_init, "smp_init", 9_120)
    tree.add("smp_prepare_cpus", freeable, "smp_init", 2_210_118)
    calls = tree.add("do_initcalls", freeable, "initcalls_pure", 1_870)
    one = tree.add("do_one_initcall", calls, "initcalls_pure", 0, calls=0)
    initcalls: dict[str, list[tuple[str, int]]] = {}
    for level, functions in INITCALLS.items():
        phase = f"initcalls_{level}"
        tree.spend(one, phase, 640 * len(functions), len(functions))
        for function in functions:
            node = tree.add(function, one, phase, some(300, 80_000))
            initcalls.setdefault(level, []).append((function, node))
            for chain in tree.random.sample(CHAINS, min(initcall_children, len(CHAINS)) // 2):
                parent = node
                for callee in chain:
                    parent = tree.add(callee, parent, phase, some(200, 700_000), calls=some(1, 60))
            if function == "dh_init":
                inner = tree.add("dh_compute_value", node, phase, 18_204, calls=2)
                power = tree.add("mpi_powm", inner, phase, 3_204_881, calls=2)
                tree.add("mpihelp_submul_1", power, phase, 310_556_120, calls=281_112)
                tree.add("mpihelp_mul_1", power, phase, 92_104_007, calls=90_412)
    _interrupts_and_user(tree, kernel_init)
    return tree, initcalls


def _interrupts_and_user(tree: Tree, kernel_init: int) -> None:
    """The rest of the boot: interrupts in every later phase, a worker, the first process, and idle."""
    group = tree.add("[interrupts]", 0, "early_init", 0, kind="group", calls=0)
    entry = tree.add("asm_sysvec_apic_timer_interrupt", group, "early_init", 0, kind="interrupt", calls=0)
    handler = tree.add("__sysvec_apic_timer_interrupt", entry, "early_init", 0, calls=0)
    for phase in PHASES[3:]:
        ticks = tree.some(2, 40)
        tree.spend(entry, phase, 61 * ticks, ticks)
        tree.spend(handler, phase, 1_904 * ticks, ticks)
    worker = tree.add("ret_from_fork", 0, "initcalls_device", 180, kind="task")
    work = tree.add("process_one_work", worker, "initcalls_device", 40_120, calls=31)
    tree.add("deferred_probe_work_func", work, "initcalls_device", 4_220_016, calls=3)
    tree.add("ext4_fill_super", work, "run_init", 2_120_440, module="ext4")
    run = tree.add("run_init_process", kernel_init, "run_init", 1_020)
    tree.add("bprm_execve", run, "run_init", 1_480_992)
    syscall = tree.add("entry_SYSCALL_64", 0, "user", 210_400, kind="syscall", calls=412)
    tree.add("do_syscall_64", syscall, "user", 6_840_213, calls=412)
    tree.add("[user init]", 0, "user", 1_204_330, kind="user")
    idle = tree.add("[idle]", 0, "initcalls_device", 0, kind="idle", calls=3)
    tree.nodes[idle].ns["initcalls_device"] = 120_000_450
    tree.nodes[idle].calls["user"] = 1
    tree.nodes[idle].ns["user"] = 4_000_077
