//! The architecture of 64-bit PCs.

use super::{instruction, symbols, userspace};
use crate::{Class, Flow, Isa, ThunkSection, Userspace};
use std::ops::Range;

// User code in the kernel's half of the addresses.
const VSYSCALL: Range<u64> = 0xffff_ffff_ff60_0000..0xffff_ffff_ff60_1000;

/// The architecture of 64-bit PCs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct X86_64;

impl Isa for X86_64 {
    const NAME: &'static str = "x86_64";

    const LONGEST_INSTRUCTION: u64 = 15;
    const MARK_BYTES: usize = 8;

    // `.text..__x86.*` has bounds of its own up to 6.2; later it lies between its two ends that have kept their names
    // (arch/x86/kernel/vmlinux.lds.S, arch/x86/lib/retpoline.S). Those files also name the sections of newer mitigations.
    const THUNKS: &'static [ThunkSection] = &[
        ThunkSection {
            bounds: ("__indirect_thunk_start", "__indirect_thunk_end"),
            ends: Some(("__x86_indirect_thunk_rax", "__x86_return_thunk")),
        },
        ThunkSection { bounds: ("__static_call_text_start", "__static_call_text_end"), ends: None },
    ];
    // CONFIG_FUNCTION_PADDING_BYTES is at most 64, and FineIBT adds 16.
    const PADDING_BYTES: u64 = 128;
    const WAYS_OUT: &'static [&'static str] =
        &["syscall_exit_to_user_mode", "irqentry_exit_to_user_mode", "exit_to_user_mode_prepare", "do_syscall_64"];
    // From 6.2 on the variable is the first member of `pcpu_hot`.
    const CURRENT_TASK: &'static [&'static str] = &["current_task", "pcpu_hot"];

    // `THREAD_SIZE`, `IRQ_STACK_SIZE`.
    const STACK_BYTES: u64 = 16 * 1024;
    // `__switch_to_asm` pushes its registers below the return address of its caller.
    const SWITCH_FRAME_BYTES: u64 = 128;
    const RETURN_SLOT_BYTES: u64 = 8;

    const KERNEL_HALF: u64 = 0xffff_8000_0000_0000;
    // `__START_KERNEL_map`.
    const IMAGE_OFFSET: Option<u64> = Some(0xffff_ffff_8000_0000);
    // Up to 6.11 `startup_64` is the first byte of the image.
    const IMAGE_ENTRY: &'static [&'static str] = &["startup_64", "_text"];
    // Where the boot protocol puts the compressed kernel (`code32_start`).
    const DECOMPRESSOR: Option<u64> = Some(0x10_0000);

    const USERSPACE: Option<&'static Userspace> = Some(&userspace::USERSPACE);

    fn flow(bytes: &[u8], address: u64) -> Flow {
        instruction::flow(bytes, address)
    }

    fn runs_through(bytes: &[u8]) -> bool {
        instruction::runs_through(bytes)
    }

    fn class(symbol: &str) -> Option<Class> {
        symbols::class(symbol)
    }

    fn entry_class(symbol: &str) -> Option<Class> {
        symbols::entry_class(symbol)
    }

    fn is_kernel_code(address: u64) -> bool {
        address >= Self::KERNEL_HALF && !VSYSCALL.contains(&address)
    }
}
