//! Firmware and boot loaders: bootstage, FPDT, EFI variables, coreboot.

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[];
