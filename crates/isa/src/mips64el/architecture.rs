//! The architecture of 64-bit MIPS with little-endian bytes.

use super::{instruction, symbols};
use crate::{Class, FixedCode, Flow, Isa, Linked, RegisterFile, RegisterWidth};
use std::ops::Range;

/// The architecture of 64-bit MIPS with little-endian bytes, of its second release.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mips64el;

// What a kernel's image is entered by, which sets the status register up (`setup_c0_status_pri`, arch/mips/kernel/head.S):
// `mfc0 t0, Status`, `lui at, 0x1000`, `ori at, at, 0x9f`, `or t0, t0, at`, `xori t0, t0, 0x1f`, `mtc0 t0, Status`.
const HEAD: [u32; 6] = [0x400c_6000, 0x3c01_1000, 0x3421_009f, 0x0181_6025, 0x398c_001f, 0x408c_6000];
const HEAD_BYTES: usize = HEAD.len() * 4;

// What an image that unpacks itself begins with, which keeps the four arguments (arch/mips/boot/compressed/head.S): `move s0, a0`, ...
// Assemblers write a move as `or` or as `daddu`.
const MOVES: [u32; 4] = [0x0080_8000, 0x00a0_8800, 0x00c0_9000, 0x00e0_9800];
const AS_OR: u32 = 0x25;
const AS_ADDITION: u32 = 0x2d;

// Addresses of memory that no table of pages translates (kseg0).
const UNTRANSLATED: Range<u64> = 0xffff_ffff_8000_0000..0xffff_ffff_a000_0000;

// The kernel puts the vectors into a page that it allocates (`trap_init`, arch/mips/kernel/traps.c). Here they have the addresses at which
// the processor has them after a reset.
const VECTORS: u64 = 0xffff_ffff_bfc0_0200;
const REFILL: u64 = VECTORS + 0x80;
const OTHERS: u64 = VECTORS + 0x100;
const PAGE_BYTES: u64 = 4096;

// QEMU keeps the general registers side by side in the number's order (`TCState.gpr`, `target/mips/cpu.h`); the debugger numbers them so.
const ORDER: [i32; 32] = {
    let mut order = [0; 32];
    let mut number = 0;
    while number < order.len() {
        order[number] = number as i32;
        number += 1;
    }
    order
};

// Calls: MIPSpro 64-Bit Porting and Transition Guide, "Calling Convention Implementations".
const LINKED: Linked = Linked {
    registers: RegisterFile {
        read: &[c"mips_cpu_gdb_read_register"],
        order: &ORDER,
        width: RegisterWidth::Bits64,
        stack_pointer: 29,
        arguments: [4, 5, 6, 7, 8, 9],
        result: 2,
    },
    link: 31,
    // `resume(prev, next, thread_info of next)`, arch/mips/kernel/r4k_switch.S.
    tasks: (4, 5),
    given_tasks: None,
    // With the delay slot.
    call_bytes: &[8],
    // A new task returns to the label `syscall_exit`, and `sys_rt_sigreturn` jumps there.
    entry_calls_by_jumps: true,
    // drivers/tty/serial/8250/8250_port.c, 8250_early.c.
    console: &["io_serial_out", "mem_serial_out", "mem32_serial_out", "serial8250_early_out"],
    head_bytes: HEAD_BYTES,
};

impl Isa for Mips64el {
    const NAME: &'static str = "mips64el";

    const LANDING_PAD_BYTES: u64 = 0;
    const DELAY_SLOT_BYTES: u64 = 4;

    const INSIDE: &'static [&'static str] = symbols::INSIDE;
    // Each way out to user mode goes through one of these labels (arch/mips/kernel/entry.S): of interrupts and exceptions, and of system
    // calls. What follows, `restore_all`, also leads back into the kernel.
    const WAYS_OUT: &'static [&'static str] = &["resume_userspace", "syscall_exit", "syscall_exit_partial"];

    // They read a register of the processor for a program, where that is what it wants (arch/mips/kernel/genex.S).
    const GOES_ON: &'static [(&'static str, &'static str)] =
        &[("handle_ri_rdhwr", "handle_ri"), ("handle_ri_rdhwr_tlbp", "handle_ri")];

    // `THREAD_SIZE` with pages of 4 KiB.
    const STACK_BYTES: u64 = 16 * 1024;

    const KERNEL_HALF: u64 = 0x8000_0000_0000_0000;
    const ENTERED_MAPPED: bool = true;
    const IMAGE_ENTRY: &'static [&'static str] = &["kernel_entry"];
    // `MODULE_START` where symbols have 32 bits.
    const MODULES_FROM: Option<u64> = Some(0xffff_ffff_c000_0000);

    const FIXED: &'static [FixedCode] = &[
        // What does not fit behind the vector of a refill stands in front of it (`build_r4000_tlb_refill_handler`).
        FixedCode { name: "tlb_refill_rest", start: VECTORS, end: REFILL, class: Class::Label },
        FixedCode { name: "tlb_refill", start: REFILL, end: OTHERS, class: Class::Exception },
        FixedCode { name: "exception_vectors", start: OTHERS, end: VECTORS + PAGE_BYTES, class: Class::Stub },
    ];

    const LINKED: Option<&'static Linked> = Some(&LINKED);

    fn flow(bytes: &[u8], address: u64) -> Flow {
        instruction::flow(bytes, address)
    }

    fn runs_through(bytes: &[u8]) -> bool {
        instruction::runs_through(bytes)
    }

    fn class(symbol: &str) -> Option<Class> {
        symbols::class(symbol)
    }

    // Data has more addresses in that half.
    fn is_kernel_code(address: u64) -> bool {
        address >= UNTRANSLATED.start
    }

    fn fixed_at(address: u64) -> Option<u64> {
        UNTRANSLATED.contains(&address).then_some(VECTORS + address % PAGE_BYTES)
    }

    fn begins_decompressor(head: &[u8]) -> bool {
        let mut words = words(head);
        MOVES.iter().all(|expected| {
            words.next().is_some_and(|word| [AS_OR, AS_ADDITION].iter().any(|how| word == expected | how))
        })
    }

    fn image_entry(head: &[u8], address: u64) -> Option<u64> {
        let mut words = words(head);
        HEAD.iter().all(|expected| words.next() == Some(*expected)).then_some(address)
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).filter_map(|word| word.first_chunk().map(|word| u32::from_le_bytes(*word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_sets_the_status_register_up_is_the_entry_of_an_image() {
        let head = bytes(&HEAD);
        assert_eq!(Mips64el::image_entry(&head, 0xffff_ffff_80b4_9f68), Some(0xffff_ffff_80b4_9f68));
        assert_eq!(Mips64el::image_entry(&head[..20], 0), None);
        assert_eq!(Mips64el::image_entry(&[0; HEAD_BYTES], 0), None);
    }

    #[test]
    fn an_image_that_unpacks_itself_keeps_its_arguments_first() {
        assert!(Mips64el::begins_decompressor(&bytes(&[0x0080_8025, 0x00a0_8825, 0x00c0_9025, 0x00e0_9825])));
        assert!(Mips64el::begins_decompressor(&bytes(&[0x0080_802d, 0x00a0_882d, 0x00c0_902d, 0x00e0_982d])));
        assert!(!Mips64el::begins_decompressor(&bytes(&[0x0080_8025, 0x00a0_8825, 0x00c0_9025])));
        assert!(!Mips64el::begins_decompressor(&bytes(&HEAD)));
    }

    #[test]
    fn the_kernel_is_everything_that_begins_with_untranslated_memory() {
        assert!(Mips64el::is_kernel_code(0xffff_ffff_8010_0400));
        assert!(Mips64el::is_kernel_code(0xffff_ffff_c000_0000));
        assert!(!Mips64el::is_kernel_code(0x9800_0000_0010_0400));
        assert!(!Mips64el::is_kernel_code(0xff_f7fc_0000));
    }

    #[test]
    fn vectors_have_one_address_wherever_the_kernel_puts_them() {
        assert_eq!(Mips64el::fixed_at(0xffff_ffff_8125_a080), Some(REFILL));
        assert_eq!(Mips64el::fixed_at(0xffff_ffff_8125_a180), Some(OTHERS + 0x80));
        assert_eq!(Mips64el::fixed_at(0xffff_ffff_c000_0180), None);
    }
}
