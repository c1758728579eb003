//! Registers, page tables and system calls of x86_64.

use crate::userspace::{
    Area, CallNumber, DirectMap, KernelTable, PageArray, Paging, ReadPhysical, RegisterFile, RegisterWidth, Userspace,
};
use syscalls::x86_64::Sysno;

/// The border of user mode. Areas: `Documentation/arch/x86/x86_64/mm.rst`. QEMU keeps the registers as `CPUX86State.regs` has them (`target/i386/cpu.h`), the debugger numbers
/// them otherwise (`target/i386/gdbstub.c`). Members of `pt_regs`: `arch/x86/include/asm/ptrace.h`.
pub(super) const USERSPACE: Userspace = Userspace {
    registers: RegisterFile {
        read: &[c"x86_cpu_gdb_read_register"],
        order: &[0, 2, 3, 1, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15],
        width: RegisterWidth::Bits64,
        stack_pointer: 4,
        arguments: [7, 6, 2, 1, 8, 9],
        result: 0,
    },
    kernel_table: KernelTable::Symbol(&["init_top_pgt", "swapper_pg_dir"], PAGING),
    direct_map: DirectMap::Area(Area { symbol: "page_offset_base", address: 0xffff_8880_0000_0000 }),
    page_array: PageArray::Area(Area { symbol: "vmemmap_base", address: 0xffff_ea00_0000_0000 }),
    vdso: &["vdso_image_64", "vdso64_image"],
    translate,
    entry: "do_syscall_64",
    number: CallNumber::Argument,
    exits: &["syscall_exit_to_user_mode", "exit_to_user_mode_loop"],
    arguments: [("di", 0), ("si", 0), ("dx", 0), ("r10", 0), ("r8", 0), ("r9", 0)],
    result: ("ax", 0),
    name,
};

const PRESENT: u64 = 1;
const LARGE: u64 = 1 << 7;
const FRAME: u64 = 0x000f_ffff_ffff_f000;
const INDEX_BITS: u32 = 9;
const PAGE_BITS: u32 = 12;
const LEVELS: u32 = 4;
// Four levels: recorded boots have no processor with five (Intel SDM volume 3, 4.5).
const PAGING: Paging = Paging { page_bits: PAGE_BITS, address_bits: PAGE_BITS + LEVELS * INDEX_BITS };

fn translate(_paging: Paging, root: u64, address: u64, read: ReadPhysical<'_>) -> Option<u64> {
    let mut table = root & FRAME;
    for level in (0..LEVELS).rev() {
        let shift = PAGE_BITS + INDEX_BITS * level;
        let entry = read(table + (address >> shift & 0x1ff) * 8)?;
        if entry & PRESENT == 0 {
            return None;
        }
        if level == 0 || entry & LARGE != 0 && level < LEVELS - 1 {
            let within = (1 << shift) - 1;
            return Some(entry & FRAME & !within | address & within);
        }
        table = entry & FRAME;
    }
    None
}

fn name(number: u64) -> Option<&'static str> {
    Sysno::new(usize::try_from(number).ok()?).map(|call| call.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn look(address: u64, entries: &[(u64, u64)]) -> Option<u64> {
        let memory: HashMap<u64, u64> = entries.iter().copied().collect();
        translate(PAGING, 0x1000, address, &mut |at| memory.get(&at).copied())
    }

    #[test]
    fn an_address_is_found_through_four_levels() {
        let entries = [(0x1000, 0x2001), (0x2000, 0x3001), (0x3000, 0x4001), (0x4008, 0x8000_0000_0007_7001)];
        assert_eq!(look(0x1234, &entries), Some(0x77234));
    }

    #[test]
    fn a_large_page_ends_the_walk() {
        let entries = [(0x1000, 0x2001), (0x2000, 0x3001), (0x3008, 0x0060_0081)];
        assert_eq!(look(0x20_1234, &entries), Some(0x60_1234));
    }

    #[test]
    fn what_is_not_mapped_or_not_memory_has_no_address() {
        assert_eq!(look(0x1234, &[(0x1000, 0x2001), (0x2000, 0x3000)]), None);
        assert_eq!(look(0x1234, &[]), None);
    }

    #[test]
    fn system_calls_have_the_names_of_the_kernels_table() {
        assert_eq!([0, 59, 257].map(name), [Some("read"), Some("execve"), Some("openat")]);
        assert_eq!(name(99_999), None);
    }
}
