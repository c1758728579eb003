"""A bundle with a calling-context tree as large as a real boot's: invented paths of real names, sums that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import bundles
from boot_tree import PHASES, Tree, boot_tree

NAMES = (
    "kmem_cache_alloc kfree __kmalloc kstrdup memset_erms memcpy_erms strlen strcmp vsnprintf kobject_init kobject_add "
    "sysfs_create_file_ns kernfs_add_one kernfs_new_node idr_alloc_cyclic mutex_lock mutex_unlock _raw_spin_lock "
    "_raw_spin_unlock_irqrestore rcu_read_unlock_strict device_add device_register bus_probe_device driver_attach "
    "really_probe pci_read_config pci_bus_read_config_dword acpi_ns_walk_namespace acpi_ps_parse_loop "
    "acpi_ut_create_generic_state acpi_ds_exec_end_op crypto_alg_lookup crypto_larval_kill x509_cert_parse "
    "asn1_ber_decoder mpi_powm sha256_transform vmap_pages_range_noflush __alloc_pages get_page_from_freelist "
    "clear_page_erms alloc_inode d_alloc_parallel dput path_lookupat link_path_walk do_filp_open vfs_read "
    "ext4_map_blocks ext4_find_extent crc32c_intel_le schedule __schedule finish_task_switch try_to_wake_up "
    "enqueue_task_fair update_curr ktime_get irq_work_run unpack_to_rootfs inflate_fast zlib_inflate_table"
).split()


def grown_tree(size: int, seed: int, shift: int) -> tuple[Tree, dict[str, list[tuple[str, int]]]]:
    """The invented boot with *size* further call paths below it; few are large, most are tiny, as in a real one."""
    tree, initcalls = boot_tree(seed, shift)
    chance = tree.random
    hosts = [(number, next(iter(node.instructions), PHASES[3])) for number, node in enumerate(tree.nodes) if number]
    hosts = [host for host in hosts if tree.nodes[host[0]].kind in ("function", "task", "syscall")]
    depths = dict.fromkeys((number for number, _ in hosts), 4)
    for _ in range(size):
        host, phase = chance.choice(hosts[-400:]) if chance.random() < 0.8 else chance.choice(hosts)
        if depths[host] > 60:
            host, phase = hosts[chance.randrange(90)]
        heavy = int(min(chance.paretovariate(0.75) * 400, 20_000_000))
        module = "ext4" if chance.random() < 0.02 else None
        node = tree.add(chance.choice(NAMES), host, phase, heavy, calls=chance.randrange(1, 300), module=module)
        depths[node] = depths[host] + 1
        hosts.append((node, phase))
    return tree, initcalls


def make_large_bundle(directory: Path, monkeypatch: pytest.MonkeyPatch, size: int = 200_000) -> Path:
    """Write a bundle whose tree has more than *size* nodes below *directory*; returns its path."""
    monkeypatch.setattr(bundles, "boot_tree", lambda seed, shift: grown_tree(size, seed, shift))
    return bundles.make_bundle(directory, name="large.boot")
