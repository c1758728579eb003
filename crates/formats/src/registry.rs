//! Every reader.

use crate::format::Format;
use crate::{collection, firmware, function_log, kernel_log, sampling, systemd, tracing, udev};

/// All of them, the families in order; of equally sure ones [`crate::sniff`] takes the first.
pub fn formats() -> impl Iterator<Item = &'static dyn Format> {
    [
        collection::FORMATS,
        tracing::FORMATS,
        function_log::FORMATS,
        systemd::FORMATS,
        sampling::FORMATS,
        firmware::FORMATS,
        udev::FORMATS,
        kernel_log::FORMATS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The reader that `--as` names.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    formats().find(|format| format.name() == name)
}
