//! The architecture of 64-bit Arm.

use super::{instruction, symbols, userspace};
use crate::{image_head, Class, Flow, Isa, Linked, Userspace};

/// The architecture of 64-bit Arm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Aarch64;

/// What the head of an uncompressed image has at its offset 0x38 (`Documentation/arch/arm64/booting.rst`).
const IMAGE_SIGN: &[u8] = b"ARM\x64";

// Calls: Procedure Call Standard for the Arm 64-bit Architecture, 6.
const LINKED: Linked = Linked {
    registers: userspace::REGISTERS,
    link: 30,
    // `cpu_switch_to(prev, next)`, arch/arm64/kernel/entry.S.
    tasks: (0, 1),
    given_tasks: None,
    call_bytes: &[4],
    entry_calls_by_jumps: false,
    // drivers/tty/serial/amba-pl011.c, 8250/8250_port.c.
    console: &["pl011_", "mem_serial_out", "mem32_serial_out"],
    head_bytes: 64,
};

impl Isa for Aarch64 {
    const NAME: &'static str = "aarch64";

    // Every way out goes through the first of these labels, or up to Linux 4.20 through the second.
    const WAYS_OUT: &'static [&'static str] = &["ret_to_user", "ret_fast_syscall"];

    // `THREAD_SIZE`, `IRQ_STACK_SIZE`, with pages of 4 KiB.
    const STACK_BYTES: u64 = 16 * 1024;

    // With addresses of 48 bits: other kernels have a smaller half, which lies in this one.
    const KERNEL_HALF: u64 = 0xffff_0000_0000_0000;
    // Up to Linux 5.8 `stext`.
    const IMAGE_ENTRY: &'static [&'static str] = &["primary_entry", "stext"];

    const LINKED: Option<&'static Linked> = Some(&LINKED);
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

    fn image_entry(head: &[u8], address: u64) -> Option<u64> {
        image_head::entry::<Self>(head, address, IMAGE_SIGN, 4)
    }

    fn image_bytes(head: &[u8]) -> Option<u64> {
        image_head::bytes(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(first: u32, second: u32) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..4].copy_from_slice(&first.to_le_bytes());
        head[4..8].copy_from_slice(&second.to_le_bytes());
        head[0x38..0x3c].copy_from_slice(b"ARM\x64");
        head
    }

    #[test]
    fn the_head_of_an_image_shows_its_entry() {
        // `ccmp x18, #0, #0xd, pl`, which is `MZ` too; `b .+0x100`.
        let efi = head(0xfa40_5a4d, 0x1400_0040);
        assert_eq!(Aarch64::image_entry(&efi, 0x4020_0000), Some(0x4020_0104));
        let plain = head(0x1400_0040, 0);
        assert_eq!(Aarch64::image_entry(&plain, 0x4020_0000), Some(0x4020_0100));
    }

    #[test]
    fn the_head_of_an_image_shows_its_size() {
        let mut image = head(0x1400_0040, 0);
        assert_eq!(Aarch64::image_bytes(&image), None);
        image[16..24].copy_from_slice(&0x1ab_0000_u64.to_le_bytes());
        assert_eq!(Aarch64::image_bytes(&image), Some(0x1ab_0000));
    }

    #[test]
    fn other_code_is_no_image() {
        assert_eq!(Aarch64::image_entry(&[0; 64], 0x4020_0000), None);
        assert_eq!(Aarch64::image_entry(&head(0, 0)[..0x3a], 0x4020_0000), None);
        assert_eq!(Aarch64::image_entry(&head(0, 0), 0x4020_0000), None);
    }
}
