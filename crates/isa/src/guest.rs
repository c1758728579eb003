//! What programs inside the guest execute: marks, single instructions that do nothing and that the plugin sees from outside;
//! and the counter that shows the virtual time.
//!
//! Each mark stands at the start of a function of its own that is never inlined: the plugin notices a mark when the block that
//! holds it is translated, so nothing may stand before it in that block that could fault.

#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "arm",
    all(target_arch = "mips64", target_endian = "little"),
    all(target_arch = "powerpc64", target_endian = "little"),
    target_arch = "riscv64",
    target_arch = "x86_64"
)))]
compile_error!("no module of this crate has the marks of this architecture, see docs/design/architectures.md");

#[cfg(target_arch = "aarch64")]
use crate::aarch64::guest as instructions;
#[cfg(target_arch = "arm")]
use crate::arm::guest as instructions;
#[cfg(all(target_arch = "mips64", target_endian = "little"))]
use crate::mips64el::guest as instructions;
#[cfg(all(target_arch = "powerpc64", target_endian = "little"))]
use crate::ppc64le::guest as instructions;
#[cfg(target_arch = "riscv64")]
use crate::riscv64::guest as instructions;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::guest as instructions;

pub use instructions::{counter, ready};

/// A named instant that the guest gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// First line of the helper's `main`, as first process.
    GuestStart,
    /// About to execute the new root's init.
    SwitchRoot,
}

/// Gives a mark.
pub fn give(mark: Mark) {
    match mark {
        Mark::GuestStart => instructions::guest_start(),
        Mark::SwitchRoot => instructions::switch_root(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_holds_each_mark_exactly_as_specified() {
        give(Mark::GuestStart);
        give(Mark::SwitchRoot);
        assert!(ready() > 0);
        let binary = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for number in 1..=3 {
            let bytes = instructions::specified(number);
            assert!(binary.windows(bytes.len()).any(|window| window == bytes), "mark {number}");
        }
    }
}
