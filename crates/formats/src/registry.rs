//! Every reader, by family. `crates/schema/vocabulary.toml` lists the readers; CONTRIBUTING.md says how to add one.

use crate::about::Role;
use crate::format::{Format, Head, Recognise};
use crate::{collection, firmware, function_log, kernel_log, sampling, sniff, systemd, tracing, udev, FormatError};

/// Readers, by the families that they belong to.
#[derive(Clone, Copy)]
pub struct Registry {
    families: &'static [&'static [&'static dyn Format]],
}

/// All of them, the families in order.
pub static READERS: Registry = Registry {
    families: &[
        collection::FORMATS,
        tracing::FORMATS,
        function_log::FORMATS,
        systemd::FORMATS,
        sampling::FORMATS,
        firmware::FORMATS,
        udev::FORMATS,
        kernel_log::FORMATS,
    ],
};

impl Registry {
    /// The readers in order; of equally sure ones the first reads a record.
    pub fn formats(&self) -> impl Iterator<Item = &'static dyn Format> + Clone {
        self.families.iter().copied().flatten().copied()
    }

    /// The reader that `--as` names.
    pub fn by_name(&self, name: &str) -> Option<&'static dyn Format> {
        self.formats().find(|format| format.name() == name)
    }
}

impl Recognise for Registry {
    fn recognise(&self, head: &Head<'_>) -> Result<&'static dyn Format, FormatError> {
        sniff::recognise(self.formats(), head)
    }

    fn for_role(&self, role: Role) -> Option<&'static dyn Format> {
        self.formats().find(|format| format.about().traits.role == Some(role))
    }
}

/// All readers.
pub fn formats() -> impl Iterator<Item = &'static dyn Format> + Clone {
    READERS.formats()
}

/// The reader that `--as` names.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    READERS.by_name(name)
}

/// The reader that is surest of a record.
///
/// # Errors
///
/// [`FormatError::Unrecognised`], which says what the bytes look like.
///
/// ```
/// use firstlight_formats::{format::Head, registry::recognise};
/// let error = recognise(&Head { name: "boot.png", bytes: b"\x89PNG\r\n\x1a\n" }).err().map(|error| error.to_string());
/// assert_eq!(error.as_deref(), Some("its format is not recognised: it is a PNG picture"));
/// let error = recognise(&Head { name: "time.txt", bytes: b"\xff\xfeS\0t\0" }).err().map(|error| error.to_string());
/// assert!(error.is_some_and(|error| error.contains("iconv")));
/// let line = "\x1b[1mNov 03 10:00:04.153098 box systemd[1]: Starting a.service...\x1b[0m\r\n".repeat(2);
/// let coloured = Head { name: "journal.txt", bytes: line.as_bytes() };
/// assert_eq!(recognise(&coloured).map(|format| format.name()).ok(), Some("journal-short"));
/// let table = Head { name: "plot.txt", bytes: b"NAME   ACTIVATED ACTIVATING TIME DEACTIVATED DEACTIVATING\na.mount 2s 1s 1s\n" };
/// let error = recognise(&table).err().map(|error| error.to_string());
/// assert!(error.is_some_and(|error| error.contains("--json=short")));
/// ```
pub fn recognise(head: &Head<'_>) -> Result<&'static dyn Format, FormatError> {
    READERS.recognise(head)
}
