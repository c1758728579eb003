//! Bounds of functions by the table of call frames, which also stripped files keep for exceptions.

use crate::Function;
use firstlight_schema::FunctionSource;
use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection as _};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _};

/// One nameless function for each entry of `.eh_frame`, in order of addresses. A damaged table ends where the damage is.
pub(crate) fn functions(file: &ElfFile64<'_, object::Endianness>) -> Vec<Function> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(bytes) = section.data() else { return Vec::new() };
    let address = |name: &str| file.section_by_name(name).map_or(0, |section| section.address());
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let frames = EhFrame::from(EndianSlice::new(bytes, endian));
    let bases =
        BaseAddresses::default().set_eh_frame(section.address()).set_text(address(".text")).set_got(address(".got"));
    let mut entries = frames.entries(&bases);
    let mut found = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(frame) = partial.parse(EhFrame::cie_from_offset) else { continue };
        let (start, length) = (frame.initial_address(), frame.len());
        if start != 0 && length > 0 {
            let end = start.saturating_add(length);
            found.push(Function { start, end, name: None, source: FunctionSource::FrameTable });
        }
    }
    found.sort_by_key(|function| (function.start, function.end));
    found.dedup_by_key(|function| function.start);
    found
}
