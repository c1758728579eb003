//! Files that programs in the guest leave for the bundle.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Context, Result};
use crate::report::Writer;

/// Where they are left: the folder is a tmpfs wherever the helper switches the root, and memory anyway where it does not.
pub const FOLDER: &str = "/run/firstlight/export";
/// The file below it that the instants of `stamp` go to, a line each: the counter, a blank, the name.
const STAMPS: &str = "stamps";
/// A record's name holds at most so many characters, and `kept.` is in front.
const LONGEST_NAME: usize = 59;

/// Writes each regular file of the folder as the record `kept.NAME`, sorted by name; one whose name no record can have is
/// named in `kept-refused`, a line each.
pub fn write_all<W: Write>(report: &mut Writer<W>, folder: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let mut names: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    let (fit, refused): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| is_record_name(name));
    for name in fit {
        report.record(&format!("kept.{name}"), &fs::read(folder.join(&name))?)?;
    }
    if refused.is_empty() {
        Ok(())
    } else {
        report.record("kept-refused", refused.join("\n").as_bytes())
    }
}

/// Notes an instant under a name, behind those that were noted before.
pub fn stamp(counter: u64, name: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).context("create", folder)?;
    let path = folder.join(STAMPS);
    let line = format!("{counter} {}\n", name.escape_debug());
    let mut file = OpenOptions::new().append(true).create(true).open(&path).context("open", &path)?;
    file.write_all(line.as_bytes()).context("write", &path)
}

fn is_record_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(folder: &Path) -> String {
        let mut writer = Writer::new(Vec::new()).unwrap();
        write_all(&mut writer, folder).unwrap();
        String::from_utf8(writer.end().unwrap()).unwrap()
    }

    #[test]
    fn files_are_records_by_name_and_a_name_that_is_none_is_reported() {
        let folder = std::env::temp_dir().join(format!("firstlight-kept-{}", std::process::id()));
        fs::create_dir_all(folder.join("a-folder")).unwrap();
        for (name, content) in [("walk.txt", "4971\n"), ("events", ""), ("Odd Name", "x")] {
            fs::write(folder.join(name), content).unwrap();
        }
        let text = reported(&folder);
        fs::remove_dir_all(&folder).unwrap();
        let expected =
            "firstlight-report 1\nkept.events 0\n\nkept.walk.txt 5\n4971\n\nkept-refused 8\nOdd Name\nend 0\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn instants_stand_in_the_order_in_which_they_were_noted() {
        let made = std::env::temp_dir().join(format!("firstlight-stamps-{}", std::process::id()));
        let folder = made.join("keep");
        stamp(12, "mount ext4", &folder).unwrap();
        stamp(1_568_416_397, "two\nlines", &folder).unwrap();
        let text = fs::read_to_string(folder.join(STAMPS)).unwrap();
        fs::remove_dir_all(&made).unwrap();
        assert_eq!(text, "12 mount ext4\n1568416397 two\\nlines\n");
    }

    #[test]
    fn without_the_folder_nothing_is_written() {
        assert_eq!(reported(Path::new("/nowhere/at/all")), "firstlight-report 1\nend 0\n\n");
    }
}
