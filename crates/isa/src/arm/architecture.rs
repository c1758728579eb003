//! The architecture of 32-bit Arm.

use super::{instruction, symbols};
use crate::{Class, FixedCode, Flow, Isa, Linked, RegisterFile, RegisterWidth};

/// The architecture of 32-bit Arm, with kernels in the instruction set A32.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arm;

// What a kernel's image begins with behind its first instruction, which calls `__hyp_stub_install`: `mrs r9, CPSR`,
// `eor r9, r9, #HYP_MODE`, `tst r9, #MODE_MASK` (arch/arm/kernel/head.S, `safe_svcmode_maskall`).
const HEAD: [u32; 3] = [0xe10f_9000, 0xe229_901a, 0xe319_001f];
const HEAD_BYTES: usize = 16;

// QEMU keeps the registers of the running mode side by side (`CPUARMState.regs`, `target/arm/cpu.h`); the program counter among
// them is not kept up to date. Calls: Procedure Call Standard for the Arm Architecture, 6.
const LINKED: Linked = Linked {
    registers: RegisterFile {
        read: &[c"arm_cpu_gdb_read_register"],
        order: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
        width: RegisterWidth::Bits32,
        stack_pointer: 13,
        // Further ones stand on the stack.
        arguments: [0, 1, 2, 3, 3, 3],
        result: 0,
    },
    link: 14,
    // `__switch_to(previous, thread_info of previous, thread_info of next)`, arch/arm/kernel/entry-armv.S. The latter begin the
    // tasks (CONFIG_THREAD_INFO_IN_TASK).
    tasks: (1, 2),
    given_tasks: None,
    call_bytes: &[4],
    // `vector_swi` jumps to what serves a system call, with `ret_fast_syscall` in the link register.
    entry_calls_by_jumps: true,
    // drivers/tty/serial/amba-pl011.c, 8250/8250_port.c.
    console: &["pl011_", "mem_serial_out", "mem32_serial_out"],
    head_bytes: HEAD_BYTES,
};

impl Isa for Arm {
    const NAME: &'static str = "arm";

    const LANDING_PAD_BYTES: u64 = 0;

    // Every way out goes through one of these labels.
    const WAYS_OUT: &'static [&'static str] = &["ret_to_user", "ret_to_user_from_irq", "ret_fast_syscall"];

    // `THREAD_SIZE`.
    const STACK_BYTES: u64 = 8 * 1024;

    // With CONFIG_VMSPLIT_3G: modules lie in the sixteen mebibytes in front of the kernel.
    const KERNEL_HALF: u64 = 0xbf00_0000;
    const UPPER_BITS: u64 = 0;
    // Of the head itself kernels without CONFIG_KALLSYMS_ALL have no symbol.
    const IMAGE_ENTRY: &'static [&'static str] = &["__hyp_stub_install"];
    // QEMU's virt has memory from 1 GiB on, and the kernel's file 64 KiB behind (`KERNEL_LOAD_ADDR` of hw/arm/boot.c).
    const DECOMPRESSOR: Option<u64> = Some(0x4001_0000);

    const WORD_BYTES: usize = 4;

    // `__vectors` and `__stubs` (arch/arm/kernel/vmlinux.lds.S) are copied there (`early_trap_init`).
    const FIXED: &'static [FixedCode] = &[
        FixedCode { name: "vectors", start: VECTORS, end: VECTORS_END, class: Class::Stub },
        FixedCode { name: "vector_stubs", start: STUBS, end: STUBS + 0x1000, class: Class::Stub },
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

    // Between the vectors and their stubs is code of user mode (`Documentation/arm/kernel_user_helpers.rst`).
    fn is_kernel_code(address: u64) -> bool {
        address >= Self::KERNEL_HALF && !(VECTORS_END..STUBS).contains(&address)
    }

    // The first instruction calls `__hyp_stub_install`.
    fn image_entry(head: &[u8], address: u64) -> Option<u64> {
        let words = head.get(4..HEAD_BYTES)?.chunks_exact(4);
        let is_head = words.zip(HEAD).all(|(word, expected)| word == expected.to_le_bytes());
        match instruction::flow(head, address) {
            Flow::Call(target) if is_head => Some(target),
            _ => None,
        }
    }
}

const VECTORS: u64 = 0xffff_0000;
const VECTORS_END: u64 = VECTORS + 0x20;
const STUBS: u64 = 0xffff_1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn head(words: [u32; 4]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn the_head_of_an_image_shows_where_a_function_lies() {
        let image = head([0xeb04_402e, 0xe10f_9000, 0xe229_901a, 0xe319_001f]);
        assert_eq!(Arm::image_entry(&image, 0x4020_8000), Some(0x4031_80c0));
    }

    #[test]
    fn other_code_is_no_image() {
        assert_eq!(Arm::image_entry(&[0; 16], 0x4020_8000), None);
        // The decompressor's own head: it looks at the mode before it calls.
        let decompressor = head([0xe10f_9000, 0xeb00_0001, 0xe1a0_7001, 0xe1a0_8002]);
        assert_eq!(Arm::image_entry(&decompressor, 0x4001_0000), None);
        let image = head([0xeb04_402e, 0xe10f_9000, 0xe229_901a, 0xe319_001f]);
        assert_eq!(Arm::image_entry(&image[..12], 0x4020_8000), None);
    }

    #[test]
    fn helpers_of_user_mode_are_no_code_of_the_kernel() {
        assert!(Arm::is_kernel_code(0xc030_0000));
        assert!(Arm::is_kernel_code(0xbf00_0000));
        assert!(Arm::is_kernel_code(0xffff_0018));
        assert!(Arm::is_kernel_code(0xffff_1020));
        assert!(!Arm::is_kernel_code(0xffff_0fe0));
        assert!(!Arm::is_kernel_code(0xb6f0_0000));
    }
}
