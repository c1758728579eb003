//! Registers, page tables and system calls of riscv64.

use crate::system_calls::{name_of, CallTable};
use crate::userspace::{
    Area, CallNumber, DirectMap, KernelTable, PageArray, Paging, ReadPhysical, RegisterFile, RegisterWidth, Userspace,
};

/// The general registers. QEMU keeps the thirty-two side by side (`CPURISCVState.gpr`, `target/riscv/cpu.h`), and the debugger numbers
/// them alike (`target/riscv/gdbstub.c`). Calls: RISC-V ABIs Specification, "Integer Calling Convention".
pub(super) const REGISTERS: RegisterFile = RegisterFile {
    read: &[c"riscv_cpu_gdb_read_register"],
    order: &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31,
    ],
    width: RegisterWidth::Bits64,
    stack_pointer: 2,
    arguments: [10, 11, 12, 13, 14, 15],
    result: 10,
};

/// The border of user mode (arch/riscv/kernel/traps.c, from Linux 6.4 on). Members of `pt_regs`: arch/riscv/include/asm/ptrace.h.
pub(super) const USERSPACE: Userspace = Userspace {
    registers: REGISTERS,
    // The kernel takes the widest form that the processor has (`set_satp_mode`).
    kernel_table: KernelTable::Image {
        table: &["swapper_pg_dir"],
        head: &["_start"],
        forms: &[
            WIDEST,
            Paging { page_bits: PAGE_BITS, address_bits: 48 },
            Paging { page_bits: PAGE_BITS, address_bits: 39 },
        ],
    },
    // Its first member is where the direct map begins (`struct kernel_mapping`).
    direct_map: DirectMap::Memory(Area { symbol: "kernel_map", address: 0xff60_0000_0000_0000 }),
    page_array: PageArray::Candidates(page_arrays),
    // No symbol says where its code lies; each process has the address.
    vdso: &[],
    translate,
    entry: "do_trap_ecall_u",
    number: CallNumber::Member(("a7", 0)),
    exits: &["syscall_exit_to_user_mode"],
    arguments: [("a0", 0), ("a1", 0), ("a2", 0), ("a3", 0), ("a4", 0), ("a5", 0)],
    result: ("a0", 0),
    name: |number| name_of(CallTable::Riscv64, number),
};

const PAGE_BITS: u32 = 12;
const WIDEST: Paging = Paging { page_bits: PAGE_BITS, address_bits: 57 };
const INDEX_BITS: u32 = 9;
const ENTRY_BITS: u32 = 3;
const VALID: u64 = 1;
/// Read, write and execute: an entry with one of them is not a table.
const LEAF: u64 = 0b1110;
const FRAME_AT: u32 = 10;
const FRAME_BITS: u32 = 44;

// RISC-V Privileged ISA, "Sv32: Page-Based 32-bit Virtual-Memory Systems", and the sections on Sv39, Sv48 and Sv57.
fn translate(paging: Paging, root: u64, address: u64, read: ReadPhysical<'_>) -> Option<u64> {
    // The bits above those that are translated are all like the highest of them.
    let above = (address as i64) >> (paging.address_bits - 1);
    if above != 0 && above != -1 {
        return None;
    }
    let mut table = root;
    for level in (0..(paging.address_bits - PAGE_BITS) / INDEX_BITS).rev() {
        let shift = PAGE_BITS + INDEX_BITS * level;
        let index = address >> shift & ((1 << INDEX_BITS) - 1);
        let entry = read(table + (index << ENTRY_BITS))?;
        if entry & VALID == 0 {
            return None;
        }
        let frame = (entry >> FRAME_AT & ((1 << FRAME_BITS) - 1)) << PAGE_BITS;
        if entry & LEAF != 0 {
            let within = (1 << shift) - 1;
            return Some(frame & !within | address & within);
        }
        table = frame;
    }
    None
}

// `VMEMMAP_START` of arch/riscv/include/asm/pgtable.h, Documentation/arch/riscv/vm-layout.rst: with addresses of 39 bits from Linux 6.6 on,
// and before.
fn page_arrays(paging: Paging, _page_description: u64) -> Vec<u64> {
    match paging.address_bits {
        57 => vec![0xff1c_0000_0000_0000],
        48 => vec![0xffff_8d80_0000_0000],
        _ => vec![0xffff_ffc5_0000_0000, 0xffff_ffc7_0000_0000],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn look(address_bits: u32, address: u64, entries: &[(u64, u64)]) -> Option<u64> {
        let memory: HashMap<u64, u64> = entries.iter().copied().collect();
        translate(Paging { page_bits: PAGE_BITS, address_bits }, 0x1000, address, &mut |at| memory.get(&at).copied())
    }

    fn table(at: u64) -> u64 {
        at >> 12 << 10 | 1
    }

    fn page(at: u64) -> u64 {
        at >> 12 << 10 | 0xcf
    }

    #[test]
    fn an_address_is_found_through_three_four_and_five_levels() {
        let three = [(0x1000, table(0x2000)), (0x2000, table(0x3000)), (0x3008, page(0x8_7000))];
        assert_eq!(look(39, 0x1234, &three), Some(0x8_7234));
        let four =
            [(0x1000, table(0x2000)), (0x2000, table(0x3000)), (0x3000, table(0x4000)), (0x4008, page(0x8_7000))];
        assert_eq!(look(48, 0x1234, &four), Some(0x8_7234));
        let five: Vec<_> =
            (1..5).map(|at| (at << 12, table((at + 1) << 12))).chain([(0x5008, page(0x8_7000))]).collect();
        assert_eq!(look(57, 0x1234, &five), Some(0x8_7234));
    }

    #[test]
    fn a_large_page_ends_the_walk() {
        // The last but three of the pages of 2 MiB.
        let entries = [(0x1ff8, table(0x2000)), (0x2fe0, page(0x8020_0000))];
        assert_eq!(look(39, 0xffff_ffff_ff80_1234, &entries), Some(0x8020_1234));
    }

    #[test]
    fn what_is_not_mapped_has_no_address() {
        assert_eq!(look(39, 0x1234, &[(0x1000, table(0x2000)), (0x2000, 0)]), None);
        assert_eq!(look(39, 0x1234, &[]), None);
        assert_eq!(look(39, 0x0080_0000_0000_0000, &[(0x1000, page(0))]), None);
    }

    #[test]
    fn system_calls_have_the_names_of_the_kernels_table() {
        assert_eq!(
            [63, 221, 56, 258].map(USERSPACE.name),
            [Some("read"), Some("execve"), Some("openat"), Some("riscv_hwprobe")]
        );
        assert_eq!((USERSPACE.name)(99_999), None);
    }
}
