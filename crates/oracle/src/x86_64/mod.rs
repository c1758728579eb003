//! What the oracle knows of x86_64, stated without the recorder's module of it.
//!
//! The audit finds an error in either statement because there are two (`docs/design/oracle.md`).

mod straight;

use crate::architecture::{Architecture, ConsoleCode, Image, Raised, Registers};
use crate::kind::Kind;
use std::ops::{Range, RangeInclusive};

/// The x86_64 architecture.
pub static ARCHITECTURE: Architecture = Architecture {
    target: "x86_64",
    // `__START_KERNEL_map`.
    image: Image::Offset(0xffff_ffff_8000_0000),
    // In kernels without this symbol, at its beginning.
    image_entry: &["startup_64"],
    has_firmware: false,
    entry_code: ("__entry_text_start", "__entry_text_end"),
    padding: &["__pfx_", "__cfi_"],
    switch: SWITCH,
    // arch/x86/lib/retpoline.S.
    thunks: &["__x86_indirect_thunk", "__x86_return_thunk"],
    // The no-operation `0f 1f 84 00` with this displacement.
    ready: &[0x0f, 0x1f, 0x84, 0x00, 0x01, 0x00, 0x46, 0x4c],
    // QEMU's order of the first eight registers (target/i386/gdbstub.c).
    registers: Registers {
        read: c"x86_cpu_gdb_read_register",
        order: &[0, 2, 3, 1, 7, 6, 4, 5],
        stack_pointer: STACK_POINTER,
        argument: 7,
        link: None,
    },
    // `out` of one byte to the port in `dx`.
    console: ConsoleCode::Instruction(&[0xee]),
    fault_handlers: &[],
    is_kernel: |address| address >= KERNEL_HALF && !VSYSCALL.contains(&address),
    stub_or_entry,
    entry,
    is_thunk,
    is_whole: straight::is_whole,
    moves_stack_pointer: straight::moves_stack_pointer,
    is_from_user: |_, _| false,
    raised: |entry, look| {
        let sp = look.register(STACK_POINTER);
        raised(entry, |place| look.word(sp.wrapping_add(place * 8)))
    },
};

/// The lowest address of the kernel's half.
const KERNEL_HALF: u64 = 0xffff_8000_0000_0000;
/// User code in the kernel's half of the addresses.
const VSYSCALL: Range<u64> = 0xffff_ffff_ff60_0000..0xffff_ffff_ff60_1000;
const SWITCH: &str = "__switch_to_asm";
const STACK_POINTER: usize = 4;

// Of a page fault's error code: the instruction itself could not be fetched, so it was not counted.
const FETCHING: u64 = 0x10;
// Vectors of traps, which stand behind what was executed: debug, NMI, breakpoint, overflow.
const TRAPS: RangeInclusive<u64> = 1..=4;
const TRAP_ENTRIES: [&str; 4] = ["asm_exc_debug", "asm_exc_int3", "asm_exc_overflow", "asm_exc_machine_check"];
// Where the processor pushes an error code below the address (Intel SDM volume 3, table 6-1).
const WITH_ERROR_CODE: [&str; 8] = [
    "asm_exc_page_fault",
    "asm_exc_general_protection",
    "asm_exc_stack_segment",
    "asm_exc_segment_not_present",
    "asm_exc_invalid_tss",
    "asm_exc_alignment_check",
    "asm_exc_control_protection",
    "asm_exc_double_fault",
];
const EARLY_EXCEPTION: &str = "early_idt_handler_common";

// What entry code is that stands among thunks or has a name of its own.
fn stub_or_entry(name: &str) -> Option<Kind> {
    match name {
        SWITCH => Some(Kind::Switch),
        "irq_entries_start" | "spurious_entries_start" | "early_idt_handler_array" => Some(Kind::Stub),
        EARLY_EXCEPTION => Some(Kind::Exception),
        "asm_common_interrupt" | "asm_spurious_interrupt" | "asm_exc_nmi" | "asm_exc_nmi_noist" => {
            Some(Kind::Interrupt)
        }
        _ => None,
    }
}

// What other entry code is.
fn entry(name: &str) -> Option<Kind> {
    match name {
        "entry_SYSCALL_64" | "entry_SYSCALL_compat" | "entry_SYSENTER_compat" | "entry_INT80_compat" => {
            Some(Kind::Syscall)
        }
        "asm_int80_emulation" => Some(Kind::Syscall),
        _ if name.starts_with("asm_sysvec_") => Some(Kind::Interrupt),
        _ if name.starts_with("asm_exc_") => Some(Kind::Exception),
        _ => None,
    }
}

// Whether a name is that of a thunk that a linker script or an alignment puts elsewhere.
fn is_thunk(name: &str) -> bool {
    name == "__ret"
        || ["__x86_indirect_", "__x86_return_", "srso_", "retbleed_return", "retbleed_untrain", "zen_untrain_ret"]
            .iter()
            .any(|start| name.starts_with(start))
        || ["its_return_thunk", "call_depth_return_thunk", "entry_untrain_ret", "warn_thunk_thunk"].contains(&name)
}

// Reads the processor's frame at the first instruction of an exception's entry.
//
// `word` gives a word of the stack, by its place from the stack pointer on.
fn raised(entry: &str, word: impl Fn(u64) -> u64) -> Raised {
    let frame = match entry {
        EARLY_EXCEPTION => 2,
        _ => u64::from(WITH_ERROR_CODE.contains(&entry)),
    };
    let (is_fault, error) = match entry {
        EARLY_EXCEPTION => (!TRAPS.contains(&word(0)), word(1)),
        "asm_exc_page_fault" => (true, word(0)),
        _ => (!TRAP_ENTRIES.contains(&entry), 0),
    };
    Raised { from_user: word(frame + 1) & 3 == 3, from: word(frame), again: is_fault && error & FETCHING == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(entry: &str, words: [u64; 4]) -> Raised {
        raised(entry, |place| words[place as usize])
    }

    #[test]
    fn a_page_fault_is_done_again_unless_the_instruction_could_not_be_fetched() {
        let data = at("asm_exc_page_fault", [0, 0x1000, 0x33, 0]);
        assert_eq!(data, Raised { from_user: true, from: 0x1000, again: true });
        assert!(!at("asm_exc_page_fault", [FETCHING, 0x1000, 0x33, 0]).again);
    }

    #[test]
    fn a_trap_stands_behind_what_was_executed() {
        assert_eq!(at("asm_exc_int3", [0x2000, 0x10, 0, 0]), Raised { from_user: false, from: 0x2000, again: false });
        assert!(!at(EARLY_EXCEPTION, [3, 0, 0x2000, 0x10]).again);
        assert_eq!(at(EARLY_EXCEPTION, [14, 0, 0x2000, 0x10]), Raised { from_user: false, from: 0x2000, again: true });
    }
}
