//! Spellings of earlier schema versions: a reader gives the present ones.

/// By `table.column`, old and present names.
pub type Aliases = &'static [(&'static str, &'static [(&'static str, &'static str)])];

/// The present spelling of what a column holds.
///
/// ```
/// use firstlight_schema::aliases::{present, renamed};
/// let all = &[("marks.mark", &[("initrd_start", "initramfs_start")] as &[_])] as &[_];
/// assert_eq!(present(renamed(all, "marks", "mark"), "initrd_start"), "initramfs_start");
/// assert_eq!(present(renamed(all, "marks", "detail"), "initrd_start"), "initrd_start");
/// ```
pub fn present<'a>(renamed: &'a [(&'a str, &'a str)], name: &'a str) -> &'a str {
    renamed.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// The names of a column that changed; most columns have none.
pub fn renamed<'a>(
    all: &'a [(&'a str, &'a [(&'a str, &'a str)])],
    table: &str,
    column: &str,
) -> &'a [(&'a str, &'a str)] {
    let of = |key: &str| key.split_once('.') == Some((table, column));
    all.iter().find(|(key, _)| of(key)).map_or(&[], |(_, renamed)| renamed)
}
