//! Lines of a kernel behind what another program puts in front of each: `grep -H`, RFC 5424, columns of CSV, a chat.

use crate::kernel_log::prefix::inner_stamp;

/// So many lines have to have a stamp.
const FEWEST: usize = 3;

/// The lines from the kernel's stamps on, where at least half of them have one, and text in front of it.
pub(super) fn without_fronts(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(bytes.len());
    let (mut lines, mut stamped) = (0_usize, 0_usize);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = line.trim_ascii_end();
        lines += usize::from(!line.is_empty());
        let found = inner_stamp(line, 0).map(|(at, _)| line.split_at(at));
        match found.filter(|(front, _)| !front.is_empty()) {
            Some((front, rest)) => {
                stamped += 1;
                // A column of CSV is in quotes, and a quote in it stands twice.
                if front.ends_with(b"\"") {
                    let column =
                        String::from_utf8_lossy(rest.strip_suffix(b"\"").unwrap_or(rest)).replace("\"\"", "\"");
                    text.extend_from_slice(column.as_bytes());
                } else {
                    text.extend_from_slice(rest);
                }
            }
            None => text.extend_from_slice(line),
        }
        text.push(b'\n');
    }
    (stamped >= FEWEST && stamped * 2 >= lines).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_front_of_the_stamps_is_taken_off() {
        for (front, end) in [
            ("<6>1 2024-05-01T10:00:00Z box kernel - - - ", ""),
            ("a.log:12:", ""),
            ("12:00 < bob> ", ""),
            ("12,\"", "\""),
        ] {
            let lines: String = (0..4).map(|place| format!("{front}[    {place}.000000] a{end}\n")).collect();
            let bare: String = (0..4).map(|place| format!("[    {place}.000000] a\n")).collect();
            assert_eq!(without_fronts(lines.as_bytes()).as_deref(), Some(bare.as_bytes()), "{front}");
            assert_eq!(without_fronts(bare.as_bytes()), None);
        }
        let column = "n,line\n0,\"[    0.000000] Command line: a=\"\"b\"\"\"\n".to_owned()
            + &"1,\"[    1.000000] c\"\n".repeat(3);
        let found = without_fronts(column.as_bytes()).unwrap();
        assert!(found.starts_with(b"n,line\n[    0.000000] Command line: a=\"b\"\n"));
    }
}
