//! Records of what ran before the kernel: U-Boot, ACPI firmware, EFI boot loaders, coreboot.

pub mod loader_line;
mod plausible;

// Readers. Made from crates/schema/vocabulary.toml by `make vocabulary`: do not edit.
pub(crate) mod bootstage;
pub(crate) mod cbmem;
pub(crate) mod efi_loader;
pub(crate) mod fpdt;
pub(crate) mod loader_stages;

/// The readers of this family.
#[rustfmt::skip]
pub static FORMATS: &[&dyn crate::format::Format] = &[
    &bootstage::Bootstage, &loader_stages::LoaderStages, &fpdt::Fpdt, &efi_loader::EfiLoaderTimes,
    &cbmem::Cbmem,
];
// End of the readers.
