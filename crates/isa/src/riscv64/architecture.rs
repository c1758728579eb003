//! The architecture of RISC-V with registers of 64 bits.

use super::{instruction, symbols, userspace};
use crate::{image_head, Class, Flow, Isa, Linked, Userspace};

/// The architecture of RISC-V with registers of 64 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Riscv64;

/// What the head of an uncompressed image has at its offset 0x38 (`Documentation/arch/riscv/boot-image-header.rst`).
const IMAGE_SIGN: &[u8] = b"RSC\x05";

const LINKED: Linked = Linked {
    registers: userspace::REGISTERS,
    link: 1,
    // `__switch_to(prev, next)`, arch/riscv/kernel/entry.S.
    tasks: (10, 11),
    given_tasks: None,
    call_bytes: &[4, 2],
    entry_calls_by_jumps: false,
    // drivers/tty/serial/8250/8250_port.c.
    console: &["mem_serial_out", "mem32_serial_out"],
    head_bytes: 64,
};

impl Isa for Riscv64 {
    const NAME: &'static str = "riscv64";

    const WAYS_OUT: &'static [&'static str] = &["syscall_exit_to_user_mode", "irqentry_exit_to_user_mode"];

    // `THREAD_SIZE`, `IRQ_STACK_SIZE`.
    const STACK_BYTES: u64 = 16 * 1024;

    // With addresses of 57 bits: other kernels have a smaller half, which lies in this one.
    const KERNEL_HALF: u64 = 0xff00_0000_0000_0000;
    const IMAGE_ENTRY: &'static [&'static str] = &["_start_kernel"];

    const LINKED: Option<&'static Linked> = Some(&LINKED);
    const USERSPACE: Option<&'static Userspace> = Some(&userspace::USERSPACE);

    fn flow(bytes: &[u8], address: u64) -> Flow {
        instruction::flow(bytes, address)
    }

    fn far_call(front: &[u8], call: &[u8], address: u64) -> Option<u64> {
        instruction::far_call(front, call, address)
    }

    fn links_elsewhere(call: &[u8]) -> bool {
        instruction::links_elsewhere(call)
    }

    fn runs_through(bytes: &[u8]) -> bool {
        instruction::runs_through(bytes)
    }

    fn class(symbol: &str) -> Option<Class> {
        symbols::class(symbol)
    }

    fn image_entry(head: &[u8], address: u64) -> Option<u64> {
        image_head::entry::<Self>(head, address, IMAGE_SIGN, 2)
    }

    fn image_bytes(head: &[u8]) -> Option<u64> {
        image_head::bytes(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(code: [u8; 6]) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..6].copy_from_slice(&code);
        head[0x38..0x3c].copy_from_slice(b"RSC\x05");
        head
    }

    #[test]
    fn the_head_of_an_image_shows_its_entry() {
        // `c.li s4, -13`, which is `MZ` too; `j .+0x100`.
        let efi = head([0x4d, 0x5a, 0x6f, 0x00, 0x00, 0x10]);
        assert_eq!(Riscv64::image_entry(&efi, 0x8020_0000), Some(0x8020_0102));
        let plain = head([0x6f, 0x00, 0x00, 0x10, 0, 0]);
        assert_eq!(Riscv64::image_entry(&plain, 0x8020_0000), Some(0x8020_0100));
    }

    #[test]
    fn the_head_of_an_image_shows_its_size() {
        let mut image = head([0x6f, 0x00, 0x00, 0x10, 0, 0]);
        assert_eq!(Riscv64::image_bytes(&image), None);
        image[16..24].copy_from_slice(&0x1e6_c000_u64.to_le_bytes());
        assert_eq!(Riscv64::image_bytes(&image), Some(0x1e6_c000));
    }

    #[test]
    fn other_code_is_no_image() {
        assert_eq!(Riscv64::image_entry(&[0; 64], 0x8020_0000), None);
        assert_eq!(Riscv64::image_entry(&head([0; 6])[..0x3a], 0x8020_0000), None);
        assert_eq!(Riscv64::image_entry(&head([0; 6]), 0x8020_0000), None);
    }
}
