//! Reads whatever the fuzzer makes up, by the reader that `FORMAT` names; without it by the one that recognises the bytes.
//!
//! The first line of an input is the record's file name, because some readers go by it.
#![no_main]

use firstlight_formats::format::{Format, Head, Input, HEAD_BYTES};
use firstlight_formats::registry::{by_name, recognise, READERS};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FORMAT: LazyLock<Option<&'static dyn Format>> = LazyLock::new(|| {
    let name = std::env::var("FORMAT").ok().filter(|name| !name.is_empty())?;
    Some(by_name(&name).unwrap_or_else(|| panic!("no format is called `{name}`")))
});

#[path = "../../tests/literate/promises.rs"]
mod promises;

fuzz_target!(|data: &[u8]| {
    let cut = data.iter().position(|&byte| byte == b'\n');
    let (name, mut bytes) = cut.map_or((&b""[..], data), |cut| (&data[..cut], &data[cut + 1..]));
    let name = String::from_utf8_lossy(name);
    let head = Head { name: &name, bytes: &bytes[..bytes.len().min(HEAD_BYTES)] };
    let recognised = recognise(&head);
    let Some(format) = FORMAT.or_else(|| recognised.ok()) else { return };
    if let Ok(all) = format.read(Input { name: &name, bytes: &mut bytes, nested: &READERS }) {
        all.iter().for_each(promises::check);
    }
});
