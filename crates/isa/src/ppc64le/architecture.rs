//! The architecture of 64-bit POWER with little-endian bytes.

use super::{instruction, symbols};
use crate::{Class, Flow, Isa, Linked, RegisterFile, RegisterWidth, BETWEEN_REGISTERS};

/// The architecture of 64-bit POWER with little-endian bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ppc64le;

// What a kernel begins with: code that does nothing in the order of bytes that the kernel wants, and that changes to it in the other one
// (`FIXUP_ENDIAN`, arch/powerpc/include/asm/ppc_asm.h).
const FIXUP_ENDIAN: [u32; 12] = [
    0x0800_0048,
    0x4800_002c,
    0xa600_607d,
    0x0100_6b69,
    0x0000_4039,
    0x6401_417d,
    0x0500_9f42,
    0xa602_487d,
    0x1400_4a39,
    0xa603_5a7d,
    0xa603_7b7d,
    0x2400_004c,
];
// `tdi 0, 0, 0x48`, a branch to the code behind, and behind that `trap` (arch/powerpc/kernel/head_64.S, `__start`).
const TRAP: u32 = 0x7fe0_0008;
const JUMP_AT: usize = FIXUP_ENDIAN.len() * 4;
const HEAD_BYTES: usize = JUMP_AT + 8;

const GENERAL_REGISTERS: usize = 32;
/// The debugger's number of the link register (`ppc_cpu_gdb_read_register`, `target/ppc/gdbstub.c`).
const LINK: i32 = 67;

// The general registers, as many words for another kind of processors, and the link register (`CPUPPCState`, `target/ppc/cpu.h`).
const ORDER: [i32; 2 * GENERAL_REGISTERS + 1] = {
    let mut order = [BETWEEN_REGISTERS; 2 * GENERAL_REGISTERS + 1];
    let mut number = 0;
    while number < GENERAL_REGISTERS {
        order[number] = number as i32;
        number += 1;
    }
    order[2 * GENERAL_REGISTERS] = LINK;
    order
};

// Calls: 64-Bit ELF V2 ABI Specification, Power Architecture, 2.2.
const LINKED: Linked = Linked {
    registers: RegisterFile {
        read: &[c"ppc_cpu_gdb_read_register"],
        order: &ORDER,
        width: RegisterWidth::Bits64,
        stack_pointer: 1,
        arguments: [3, 4, 5, 6, 7, 8],
        result: 3,
    },
    link: 2 * GENERAL_REGISTERS,
    // `__switch_to(prev, new)`, arch/powerpc/kernel/process.c; `_switch` is given their parts that are the processor's.
    tasks: (3, 4),
    given_tasks: Some("__switch_to"),
    call_bytes: &[4],
    entry_calls_by_jumps: false,
    // The hypervisor writes.
    console: &[],
    head_bytes: HEAD_BYTES,
};

impl Isa for Ppc64le {
    const NAME: &'static str = "ppc64";

    const LANDING_PAD_BYTES: u64 = 0;
    const LOCAL_ENTRY_BYTES: u64 = 8;

    const INSIDE: &'static [&'static str] = symbols::INSIDE;
    // Each way out to user mode calls one of them (arch/powerpc/kernel/interrupt.c).
    const WAYS_OUT: &'static [&'static str] = &["syscall_exit_prepare", "interrupt_exit_user_prepare"];

    // `THREAD_SIZE` (CONFIG_THREAD_SHIFT).
    const STACK_BYTES: u64 = 16 * 1024;

    const KERNEL_HALF: u64 = 0xc000_0000_0000_0000;
    // Modules have one of the next four bits, too.
    const UPPER_BITS: u64 = 0xc00;
    const IMAGE_ENTRY: &'static [&'static str] = &["__start"];
    // `RADIX_KERN_VIRT_START`, `H_KERN_VIRT_START` with pages of 64 KiB.
    const MODULES_FROM: Option<u64> = Some(0xc008_0000_0000_0000);
    // arch/powerpc/kernel/head_64.S, `__after_prom_start`.
    const COPIED_TO: Option<u64> = Some(0);

    const LINKED: Option<&'static Linked> = Some(&LINKED);

    fn flow(bytes: &[u8], address: u64) -> Flow {
        instruction::flow(bytes, address)
    }

    fn runs_through(bytes: &[u8]) -> bool {
        instruction::runs_through(bytes)
    }

    fn has_local_entry(bytes: &[u8]) -> bool {
        instruction::computes_table(bytes)
    }

    fn class(symbol: &str) -> Option<Class> {
        symbols::class(symbol)
    }

    fn image_entry(head: &[u8], address: u64) -> Option<u64> {
        let word = |at: usize| Some(u32::from_le_bytes(*head.get(at..)?.first_chunk()?));
        let is_fixup = FIXUP_ENDIAN.iter().enumerate().all(|(index, expected)| word(4 * index) == Some(*expected));
        let jumps = matches!(head.get(JUMP_AT..).map(|bytes| instruction::flow(bytes, 0)), Some(Flow::Jump(_)));
        (is_fixup && jumps && word(JUMP_AT + 4) == Some(TRAP)).then_some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(behind: [u32; 2]) -> Vec<u8> {
        FIXUP_ENDIAN.iter().chain(&behind).flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn the_head_of_an_image_is_its_entry() {
        let image = head([0x4800_cfd4, 0x7fe0_0008]);
        assert_eq!(image[..8], [0x48, 0, 0, 8, 0x2c, 0, 0, 0x48]);
        assert_eq!(Ppc64le::image_entry(&image, 0x40_0000), Some(0x40_0000));
    }

    #[test]
    fn other_code_is_no_image() {
        assert_eq!(Ppc64le::image_entry(&[0; HEAD_BYTES], 0), None);
        // `__secondary_hold`.
        assert_eq!(Ppc64le::image_entry(&head([0x7f00_00a6, 0x6318_0002]), 0), None);
        assert_eq!(Ppc64le::image_entry(&head([0x4800_cfd4, 0x7fe0_0008])[..HEAD_BYTES - 4], 0), None);
    }

    #[test]
    fn the_link_register_stands_behind_twice_the_general_ones() {
        assert_eq!((ORDER[31], ORDER[32], ORDER[63], ORDER[64]), (31, BETWEEN_REGISTERS, BETWEEN_REGISTERS, 67));
    }

    #[test]
    fn the_kernel_is_everything_from_its_half_on() {
        assert!(Ppc64le::is_kernel_code(0xc000_0000_0000_4500));
        assert!(Ppc64le::is_kernel_code(0xc008_0000_0010_0000));
        assert!(!Ppc64le::is_kernel_code(0x7fff_ffff_0000));
        assert!(!Ppc64le::is_kernel_code(0x4500));
    }
}
