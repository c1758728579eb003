//! Names as a record gives them, made fit for a table.

/// A name on one line and not empty: control characters become `?`, and without any name it is `otherwise`.
///
/// ```
/// use firstlight_formats::names::one_line;
/// assert_eq!((one_line("mou\nt", "-"), one_line("", "<unknown>")), ("mou?t".to_owned(), "<unknown>".to_owned()));
/// ```
pub fn one_line(name: &str, otherwise: &str) -> String {
    if name.is_empty() {
        return otherwise.to_owned();
    }
    name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}
