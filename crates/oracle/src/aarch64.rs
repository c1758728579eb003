//! What the oracle knows of 64-bit Arm.

use crate::architecture::{Architecture, ConsoleCode, Image, Look, Raised, Registers, NUMBERED_ALIKE};
use crate::kind::Kind;

/// 64-bit Arm, which distributions call arm64.
pub static ARCHITECTURE: Architecture = Architecture {
    target: "aarch64",
    // Documentation/arch/arm64/booting.rst: "ARM\x64".
    image: Image::Signed(0x644d_5241),
    image_entry: &["primary_entry", "stext"],
    has_firmware: false,
    entry_code: ("__entry_text_start", "__entry_text_end"),
    padding: &["__pfx_", "__cfi_"],
    switch: "cpu_switch_to",
    thunks: &[],
    // `movz xzr, #0x4c01, lsl #48`.
    ready: &[0x3f, 0x80, 0xe9, 0xd2],
    // `CPUARMState.xregs` has the stack pointer behind the others; the debugger numbers them alike (target/arm/gdbstub64.c).
    registers: Registers {
        read: c"aarch64_cpu_gdb_read_register",
        order: &NUMBERED_ALIKE,
        stack_pointer: 31,
        argument: 0,
        link: Some(30),
    },
    console: ConsoleCode::Functions(&["pl011_", "mem_serial_out", "mem32_serial_out"]),
    fault_handlers: &["do_mem_abort"],
    is_kernel: |address| address >= KERNEL_HALF,
    stub_or_entry,
    entry,
    is_thunk: |_| false,
    is_whole: |bytes, _| bytes.len() == 4,
    moves_stack_pointer,
    is_from_user: |name, _| name.starts_with("el0"),
    raised,
};

const KERNEL_HALF: u64 = 0xffff_0000_0000_0000;

fn stub_or_entry(name: &str) -> Option<Kind> {
    match name {
        "cpu_switch_to" => Some(Kind::Switch),
        "vectors" | "tramp_vectors" | "__bp_harden_el1_vectors" => Some(Kind::Stub),
        _ => None,
    }
}

// `el1h_64_irq`: level and stack, width, what; before Linux 5.13 `el1_irq`, `el0_irq_compat` (arch/arm64/kernel/entry.S).
fn entry(name: &str) -> Option<Kind> {
    let words: Vec<&str> = name.trim_end_matches("_compat").split('_').collect();
    let (level, what) = match *words.as_slice() {
        [level @ ("el0" | "el1"), what] => (level, what),
        [level @ ("el0t" | "el1t" | "el1h"), "64" | "32", what] => (level.get(..3)?, what),
        _ => return None,
    };
    match (level, what) {
        (_, "irq" | "fiq") => Some(Kind::Interrupt),
        ("el0", "sync") => Some(Kind::Syscall),
        (_, "sync" | "error") => Some(Kind::Exception),
        _ => None,
    }
}

// Arm Architecture Reference Manual, C6.2. Registers are named by number, and 31 as a base or a target of an addition is the stack
// pointer.
fn moves_stack_pointer(bytes: &[u8], _address: u64) -> Option<i64> {
    const STACK_POINTER: u32 = 31;
    let word = u32::from_le_bytes(bytes.try_into().ok()?);
    let (target, base) = (word & 31, word >> 5 & 31);
    // ADD and SUB of an immediate, without flags.
    if word & 0xbf80_0000 == 0x9100_0000 {
        if target != STACK_POINTER {
            return Some(0);
        }
        let amount = i64::from(word >> 10 & 0xfff) << if word & 1 << 22 != 0 { 12 } else { 0 };
        let signed = if word & 1 << 30 != 0 { -amount } else { amount };
        return (base == STACK_POINTER).then_some(signed);
    }
    // ADD and SUB of an extended register, AND, ORR and EOR of an immediate: nothing shows how far.
    let extended = word & 0xbfe0_0000 == 0x8b20_0000;
    let logical = word & 0x1f80_0000 == 0x1200_0000 && word >> 29 & 3 != 3;
    if (extended || logical) && target == STACK_POINTER {
        return None;
    }
    if base != STACK_POINTER {
        return Some(0);
    }
    // Pairs of registers, with the base written back behind or before: bits 29..27 are 101, 25..23 are 001 or 011.
    if word >> 27 & 7 == 0b101 && matches!(word >> 23 & 7, 0b001 | 0b011) {
        let scale = if word >> 26 & 1 == 1 { 2 + (word >> 30) } else { 2 + (word >> 31) };
        let offset = i64::from(((word << 10) as i32) >> 25);
        return Some(offset << scale);
    }
    // One register, with the base written back: bits 29..27 are 111, 25..24 are 00, 21 is 0, bit 10 is 1.
    if word >> 27 & 7 == 0b111 && word >> 24 & 3 == 0 && word >> 21 & 1 == 0 && word >> 10 & 1 == 1 {
        return Some(i64::from(((word << 11) as i32) >> 23));
    }
    Some(0)
}

// `do_mem_abort(far, esr, regs)`, arch/arm64/mm/fault.c, whose caller is the entry of every abort. The class of a syndrome stands in
// its bits 31..26: 0x24 and 0x25 are of data, 0x20 and 0x21 of instructions, which were not counted. `pt_regs.pc` stands behind
// thirty-one registers and the stack pointer. Other exceptions end their block without being taken back by QEMU: what is done
// again was executed twice.
fn raised(name: &str, look: &dyn Look) -> Raised {
    if !ARCHITECTURE.fault_handlers.contains(&name) {
        return Raised::NOTHING;
    }
    let (syndrome, registers) = (look.register(1), look.register(2));
    let is_data = matches!(syndrome >> 26 & 0x3f, 0x24 | 0x25);
    Raised { from_user: false, from: look.word(registers.wrapping_add(32 * 8)), again: is_data }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Seen([u64; 3], u64);
    impl Look for Seen {
        fn register(&self, place: usize) -> u64 {
            self.0[place]
        }
        fn word(&self, address: u64) -> u64 {
            if address == self.0[2] + 256 {
                self.1
            } else {
                0
            }
        }
    }

    #[test]
    fn entries_are_told_apart_from_their_handlers() {
        assert_eq!(entry("el1h_64_irq"), Some(Kind::Interrupt));
        assert_eq!(entry("el0t_64_sync"), Some(Kind::Syscall));
        assert_eq!(entry("el0t_32_sync"), Some(Kind::Syscall));
        assert_eq!(entry("el1h_64_sync"), Some(Kind::Exception));
        assert_eq!(entry("el0_irq_compat"), Some(Kind::Interrupt));
        for name in ["el1h_64_irq_handler", "el0_svc", "el1_abort", "elevator_init", "el0_da"] {
            assert_eq!(entry(name), None, "{name}");
        }
    }

    #[test]
    fn an_access_is_done_again_and_a_fetch_was_not_counted() {
        let data = Seen([0x1000, 0x9600_0007, 0xffff_8000_0800_3e00], 0xffff_8000_0801_0004);
        assert_eq!(
            raised("do_mem_abort", &data),
            Raised { from_user: false, from: 0xffff_8000_0801_0004, again: true }
        );
        let fetch = Seen([0x1000, 0x8200_0007, 0xffff_8000_0800_3e00], 0x40_0000);
        assert!(!raised("do_mem_abort", &fetch).again);
        assert_eq!(raised("el1h_64_sync", &data), Raised::NOTHING);
    }

    #[test]
    fn pushes_and_moves_of_the_stack_pointer_are_added_up() {
        let moved = |word: u32| moves_stack_pointer(&word.to_le_bytes(), 0);
        assert_eq!(moved(0xa9be_7bfd), Some(-32)); // stp x29, x30, [sp, #-32]!
        assert_eq!(moved(0xa8c2_7bfd), Some(32)); // ldp x29, x30, [sp], #32
        assert_eq!(moved(0xa901_53f3), Some(0)); // stp x19, x20, [sp, #16]
        assert_eq!(moved(0xd100_83ff), Some(-32)); // sub sp, sp, #32
        assert_eq!(moved(0x9140_07ff), Some(4096)); // add sp, sp, #1, lsl #12
        assert_eq!(moved(0xf81f_0ffe), Some(-16)); // str x30, [sp, #-16]!
        assert_eq!(moved(0xf841_07fe), Some(16)); // ldr x30, [sp], #16
        assert_eq!(moved(0xf900_0bf3), Some(0)); // str x19, [sp, #16]
        assert_eq!(moved(0x9100_03fd), Some(0)); // mov x29, sp
        assert_eq!(moved(0x9100_013f), None); // mov sp, x9
        assert_eq!(moved(0xcb2a_63ff), None); // sub sp, sp, x10
        assert_eq!(moved(0xd503_201f), Some(0)); // nop
        assert_eq!(moved(0xaa1f_03e0), Some(0)); // mov x0, xzr
    }
}
