//! Records of what ran before the kernel: U-Boot, ACPI firmware, EFI boot loaders, coreboot.

pub(crate) mod bootstage;
mod cbmem;
mod efi_loader;
mod fpdt;
mod plausible;

use crate::format::Format;

/// The readers of this family.
pub static FORMATS: &[&dyn Format] = &[&bootstage::Bootstage, &fpdt::Fpdt, &efi_loader::EfiLoaderTimes, &cbmem::Cbmem];
