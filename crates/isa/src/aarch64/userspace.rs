//! Registers, page tables and system calls of arm64.

use crate::system_calls::{name_of, CallTable};
use crate::userspace::{
    CallNumber, DirectMap, KernelTable, PageArray, Paging, ReadPhysical, RegisterFile, RegisterWidth, Userspace,
};

/// The general registers. The stack pointer is kept behind the other thirty-one (`CPUARMState.xregs`, `target/arm/cpu.h`), and the
/// debugger numbers them alike (`target/arm/gdbstub64.c`).
pub(super) const REGISTERS: RegisterFile = RegisterFile {
    read: &[c"aarch64_cpu_gdb_read_register"],
    order: &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31,
    ],
    width: RegisterWidth::Bits64,
    stack_pointer: 31,
    arguments: [0, 1, 2, 3, 4, 5],
    result: 0,
};

/// The border of user mode (arch/arm64/kernel/syscall.c, signal.c; from Linux 6.17 on kernel/entry/common.c). Members of `pt_regs`:
/// arch/arm64/include/asm/ptrace.h; the number of a call stands in `x8`.
pub(super) const USERSPACE: Userspace = Userspace {
    registers: REGISTERS,
    // TTBR1_EL1 has `swapper_pg_dir`. Distributions leave that symbol out. Forms: arch/arm64/Kconfig, `ARM64_VA_BITS`.
    kernel_table: KernelTable::Register(&[
        Paging { page_bits: 12, address_bits: 48 },
        Paging { page_bits: 12, address_bits: 39 },
        Paging { page_bits: 16, address_bits: 48 },
        Paging { page_bits: 16, address_bits: 42 },
        Paging { page_bits: 14, address_bits: 48 },
        Paging { page_bits: 14, address_bits: 47 },
        Paging { page_bits: 14, address_bits: 36 },
    ]),
    direct_map: DirectMap::LowerHalf,
    page_array: PageArray::Candidates(page_arrays),
    // No symbol says where its code lies; each process has the address.
    vdso: &[],
    translate,
    entry: "do_el0_svc",
    number: CallNumber::Member(("regs", 8)),
    exits: &["syscall_exit_to_user_mode", "do_notify_resume", "exit_to_user_mode_loop"],
    arguments: [("regs", 0), ("regs", 1), ("regs", 2), ("regs", 3), ("regs", 4), ("regs", 5)],
    result: ("regs", 0),
    name: |number| name_of(CallTable::Aarch64, number),
};

const VALID: u64 = 1;
/// Of a descriptor above the last level: another table, no block. In the last level: a page.
const TABLE: u64 = 1 << 1;
/// The bits of a descriptor and of a table's register that an address may have.
const ADDRESS: u64 = 0x0000_ffff_ffff_ffff;
const DESCRIPTOR_BITS: u32 = 3;

// Arm Architecture Reference Manual, D8.2 and D8.3, stage 1 without 52-bit addresses: each table has one page, the first one less.
fn translate(paging: Paging, root: u64, address: u64, read: ReadPhysical<'_>) -> Option<u64> {
    let Paging { page_bits, address_bits } = paging;
    let index_bits = page_bits - DESCRIPTOR_BITS;
    let levels = (address_bits - page_bits).div_ceil(index_bits);
    let frame = ADDRESS & (u64::MAX << page_bits);
    // The upper bits select the half, and are alike.
    let mut table = root & ADDRESS & !VALID;
    let mut within = address & !paging.kernel_half();
    for level in (0..levels).rev() {
        let shift = page_bits + index_bits * level;
        let descriptor = read(table + (within >> shift << DESCRIPTOR_BITS))?;
        within &= (1 << shift) - 1;
        let is_table = descriptor & TABLE != 0;
        if descriptor & VALID == 0 || level == 0 && !is_table {
            return None;
        }
        if level == 0 || !is_table {
            return Some(descriptor & ADDRESS & (u64::MAX << shift) | within);
        }
        table = descriptor & frame;
    }
    None
}

// `VMEMMAP_START` of arch/arm64/include/asm/memory.h: from Linux 6.9 on, from 5.11 on, and from 5.4 on. The description of a page is
// taken for a power of two.
fn page_arrays(paging: Paging, page_description: u64) -> Vec<u64> {
    let description = page_description.next_power_of_two();
    let half = 1_u64 << (paging.address_bits - 1);
    let size = half / paging.page_bytes() * description;
    let newest = 0_u64.wrapping_sub(1 << 30).wrapping_sub(half / paging.page_bytes() * page_description);
    let newer = 0_u64.wrapping_sub(size * 2);
    let old = 0_u64.wrapping_sub(size).wrapping_sub(2 << 20);
    vec![newest, newer, old]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const USUAL: Paging = Paging { page_bits: 12, address_bits: 48 };

    fn look(paging: Paging, address: u64, entries: &[(u64, u64)]) -> Option<u64> {
        let memory: HashMap<u64, u64> = entries.iter().copied().collect();
        translate(paging, 0x00aa_0000_0000_1001, address, &mut |at| memory.get(&at).copied())
    }

    #[test]
    fn an_address_is_found_through_four_levels() {
        let entries = [(0x1000, 0x2003), (0x2000, 0x3003), (0x3000, 0x4003), (0x4008, 0x0060_0000_0007_7703)];
        assert_eq!(look(USUAL, 0x1234, &entries), Some(0x77234));
    }

    #[test]
    fn the_kernels_half_begins_at_the_first_entry() {
        // Entry 0x100 of the first table: bit 47.
        let entries = [(0x1800, 0x2003), (0x2000, 0x3003), (0x3200, 0x0000_0000_4020_0701)];
        assert_eq!(look(USUAL, 0xffff_8000_0801_0004, &entries), Some(0x4021_0004));
    }

    #[test]
    fn pages_of_64_kib_need_three_levels() {
        let paging = Paging { page_bits: 16, address_bits: 48 };
        let entries = [(0x1000, 0x2_0003), (0x2_0000, 0x3_0003), (0x3_0008, 0x77_0703)];
        assert_eq!(look(paging, 0x1_1234, &entries), Some(0x77_1234));
    }

    #[test]
    fn what_is_not_mapped_or_not_memory_has_no_address() {
        assert_eq!(look(USUAL, 0x1234, &[(0x1000, 0x2003), (0x2000, 0x3000)]), None);
        assert_eq!(look(USUAL, 0x1234, &[]), None);
        // A block has no place in the last level.
        let entries = [(0x1000, 0x2003), (0x2000, 0x3003), (0x3000, 0x4003), (0x4008, 0x7_7701)];
        assert_eq!(look(USUAL, 0x1234, &entries), None);
    }

    #[test]
    fn arrays_of_pages_lie_where_the_kernels_documentation_says() {
        // Documentation/arm64/memory.rst of Linux 5.10 and 6.1, and arch/arm64/memory.rst of 6.12.
        let places = page_arrays(USUAL, 64);
        assert_eq!(places, [0xffff_fdff_c000_0000, 0xffff_fc00_0000_0000, 0xffff_fdff_ffe0_0000]);
    }

    #[test]
    fn system_calls_have_the_names_of_the_kernels_table() {
        assert_eq!([63, 221, 56].map(USERSPACE.name), [Some("read"), Some("execve"), Some("openat")]);
        assert_eq!((USERSPACE.name)(99_999), None);
    }
}
