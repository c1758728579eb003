//! What the oracle knows of RISC-V with registers of 64 bits.

use crate::architecture::{Architecture, ConsoleCode, Image, Look, Raised, Registers, NUMBERED_ALIKE};
use crate::kind::Kind;

/// RISC-V with registers of 64 bits.
pub static ARCHITECTURE: Architecture = Architecture {
    target: "riscv64",
    // Documentation/arch/riscv/boot-image-header.rst: "RSC\x05".
    image: Image::Signed(0x0543_5352),
    image_entry: &["_start_kernel"],
    has_firmware: true,
    entry_code: ("__entry_text_start", "__entry_text_end"),
    padding: &["__pfx_", "__cfi_"],
    switch: "__switch_to",
    thunks: &[],
    // `lui x0, 0x4c001`.
    ready: &[0x37, 0x10, 0x00, 0x4c],
    // `CPURISCVState.gpr`; the debugger numbers them alike (target/riscv/gdbstub.c).
    registers: Registers {
        read: c"riscv_cpu_gdb_read_register",
        order: &NUMBERED_ALIKE,
        stack_pointer: 2,
        argument: 10,
        link: Some(1),
    },
    console: ConsoleCode::Functions(&["mem_serial_out", "mem32_serial_out"]),
    fault_handlers: &["do_page_fault"],
    is_kernel: |address| address >= KERNEL_HALF,
    stub_or_entry,
    entry: |_| None,
    is_thunk: |_| false,
    is_whole: |bytes, _| bytes.first().is_some_and(|low| bytes.len() == length(*low)),
    moves_stack_pointer,
    // Every entry is one function, which takes the kernel's stack only then.
    is_from_user: |_, sp| sp < KERNEL_HALF,
    raised,
};

// With addresses of 57 bits; other kernels have a smaller half, which lies in this one.
const KERNEL_HALF: u64 = 0xff00_0000_0000_0000;
const STACK_POINTER: u32 = 2;

// arch/riscv/kernel/entry.S: one entry for all, and labels of the way back.
fn stub_or_entry(name: &str) -> Option<Kind> {
    match name {
        "__switch_to" => Some(Kind::Switch),
        "handle_exception" => Some(Kind::Exception),
        "ret_from_exception"
        | "ret_from_exception_end"
        | "restore_all"
        | "ret_from_syscall"
        | "ret_from_syscall_rejected"
        | "resume_userspace" => Some(Kind::Label),
        _ => None,
    }
}

fn length(low: u8) -> usize {
    if low & 3 == 3 {
        4
    } else {
        2
    }
}

// RISC-V Unprivileged ISA: ADDI and C.ADDI, C.ADDI16SP; what else writes the stack pointer does not show how far it moves.
fn moves_stack_pointer(bytes: &[u8], _address: u64) -> Option<i64> {
    match *bytes {
        [low, high] => short_move(u32::from(u16::from_le_bytes([low, high]))),
        [a, b, c, d] => {
            let word = u32::from_le_bytes([a, b, c, d]);
            let (target, source) = (word >> 7 & 31, word >> 15 & 31);
            let writes = !matches!(word & 0x7f, 0x23 | 0x27 | 0x63);
            match word & 0x7f {
                _ if target != STACK_POINTER || !writes => Some(0),
                0x13 if word >> 12 & 7 == 0 && source == STACK_POINTER => Some(i64::from((word as i32) >> 20)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn short_move(half: u32) -> Option<i64> {
    let target = half >> 7 & 31;
    let bit = |from: u32, to: u32| i64::from(half >> from & 1) << to;
    match (half & 3, half >> 13) {
        // C.ADDI.
        (1, 0) if target == STACK_POINTER => Some(i64::from(half >> 2 & 31) - bit(12, 5)),
        // C.ADDI16SP.
        (1, 3) if target == STACK_POINTER => {
            Some(bit(6, 4) + bit(2, 5) + bit(5, 6) + bit(3, 7) + bit(4, 8) - bit(12, 9))
        }
        // C.LI, C.SLLI, C.LDSP; C.MV and C.ADD, but not C.JR and C.JALR, which have no second register.
        (1, 2) | (2, 0 | 3) if target == STACK_POINTER => None,
        (2, 4) if target == STACK_POINTER && half >> 2 & 31 != 0 => None,
        _ => Some(0),
    }
}

// `do_page_fault(regs)`, arch/riscv/kernel/traps.c and arch/riscv/mm/fault.c; `struct pt_regs`: the address stands first, the cause
// behind thirty-two words, the status and the address of the access. Causes 13 and 15 are of loads and stores, 12 of fetches,
// which were not counted.
fn raised(name: &str, look: &dyn Look) -> Raised {
    if !ARCHITECTURE.fault_handlers.contains(&name) {
        return Raised::NOTHING;
    }
    let registers = look.register(10);
    let cause = look.word(registers.wrapping_add(34 * 8));
    Raised { from_user: false, from: look.word(registers), again: matches!(cause, 13 | 15) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fault(u64);
    impl Look for Fault {
        fn register(&self, place: usize) -> u64 {
            [0, 0x8000][usize::from(place == 10)]
        }
        fn word(&self, address: u64) -> u64 {
            match address {
                0x8000 => 0x1234,
                0x8110 => self.0,
                _ => 0,
            }
        }
    }

    #[test]
    fn an_access_is_done_again_and_a_fetch_was_not_counted() {
        assert_eq!(raised("do_page_fault", &Fault(13)), Raised { from_user: false, from: 0x1234, again: true });
        assert!(raised("do_page_fault", &Fault(15)).again);
        assert!(!raised("do_page_fault", &Fault(12)).again);
        assert_eq!(raised("handle_exception", &Fault(13)), Raised::NOTHING);
    }

    #[test]
    fn whether_an_entry_came_from_user_mode_is_seen_by_the_stack() {
        assert!((ARCHITECTURE.is_from_user)("handle_exception", 0x3f_ffff_f000));
        assert!(!(ARCHITECTURE.is_from_user)("handle_exception", 0xff20_0000_0000_4000));
    }

    #[test]
    fn moves_of_the_stack_pointer_are_added_up() {
        let long = |word: u32| moves_stack_pointer(&word.to_le_bytes(), 0);
        let short = |half: u16| moves_stack_pointer(&half.to_le_bytes(), 0);
        assert_eq!(long(0xfd01_0113), Some(-48)); // addi sp, sp, -48
        assert_eq!(long(0x0087_3103), None); // ld sp, 8(a4)
        assert_eq!(long(0x0011_3423), Some(0)); // sd ra, 8(sp)
        assert_eq!(long(0x0201_0413), Some(0)); // addi s0, sp, 32
        assert_eq!(short(0x1141), Some(-16)); // c.addi sp, -16
        assert_eq!(short(0x0141), Some(16)); // c.addi sp, 16
        assert_eq!(short(0x7139), Some(-64)); // c.addi16sp sp, -64
        assert_eq!(short(0x6121), Some(64)); // c.addi16sp sp, 64
        assert_eq!(short(0x6142), None); // c.ldsp sp, 16(sp)
        assert_eq!(short(0x813a), None); // c.mv sp, a4
        assert_eq!(short(0xe406), Some(0)); // c.sdsp ra, 8(sp)
        assert_eq!(short(0x8102), Some(0)); // c.jr sp
    }

    #[test]
    fn an_instruction_is_as_long_as_its_first_bits_say() {
        assert!((ARCHITECTURE.is_whole)(&[0x01, 0x00], 0xffe));
        assert!(!(ARCHITECTURE.is_whole)(&[0x13, 0x00], 0xffe));
        assert!((ARCHITECTURE.is_whole)(&[0x13, 0, 0, 0], 0));
    }
}
