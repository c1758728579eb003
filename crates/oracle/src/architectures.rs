//! The architectures that the oracle knows.

use crate::architecture::Architecture;
use crate::{aarch64, riscv64, x86_64};

/// The architecture that QEMU calls by this name.
pub fn by_target(target: &str) -> Option<&'static Architecture> {
    let known = [&x86_64::ARCHITECTURE, &aarch64::ARCHITECTURE, &riscv64::ARCHITECTURE];
    known.into_iter().find(|each| each.target == target)
}
