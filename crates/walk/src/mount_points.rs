//! Mount points: the inode in the listing of the parent directory, and the inode by `stat`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, open, statx, AtFlags, Mode, RawDir, StatxAttributes, StatxFlags, CWD};

use crate::error::{Context, Result};
use crate::run::append;
use crate::tree::DIRECTORY;

const TABLE: &str = "/proc/self/mountinfo";

/// Appends to `file` a line of tab-separated fields for each mount point, and for each of the paths in `plain`, which
/// are no mount points: path, type of file system, inode in the listing of its directory, inode by `statx`, device,
/// device of its directory, 1 where `statx` calls it the root of a mount, 1 where it calls it an automount. What cannot
/// be known is `-`. No call here wakes an automount.
pub fn audit(file: &Path, plain: &[OsString]) -> Result<()> {
    let table = fs::read(TABLE).context("read", TABLE)?;
    let mut points: Vec<(PathBuf, String)> =
        table.split(|byte| *byte == b'\n').filter_map(mount_point).filter(|(path, _)| path != Path::new("/")).collect();
    // The last one of several mounts on one point is the one that is seen.
    points.reverse();
    let mut seen = std::collections::BTreeSet::new();
    points.retain(|(path, _)| seen.insert(path.clone()));
    points.sort();
    points.extend(plain.iter().map(|path| (PathBuf::from(path), "-".to_owned())));
    for (path, kind) in points {
        append(file, &line(&path, &kind))?;
    }
    Ok(())
}

fn line(path: &Path, kind: &str) -> String {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let look = |path: &Path| statx(CWD, path, flags, StatxFlags::BASIC_STATS).ok();
    let device = |found: &rustix::fs::Statx| format!("{}:{}", found.stx_dev_major, found.stx_dev_minor);
    let own = look(path);
    let parent = path.parent().and_then(look);
    let has = |attribute: StatxAttributes| {
        own.as_ref().map(|own| {
            // A kernel says by the mask which attributes it knows of at all.
            if own.stx_attributes_mask.contains(attribute) {
                u8::from(own.stx_attributes.contains(attribute)).to_string()
            } else {
                unknown()
            }
        })
    };
    let fields = [
        Some(path.to_string_lossy().escape_debug().to_string()),
        Some(kind.escape_debug().to_string()),
        listed(path).map(|inode| inode.to_string()),
        own.as_ref().map(|own| own.stx_ino.to_string()),
        own.as_ref().map(device),
        parent.as_ref().map(device),
        has(StatxAttributes::MOUNT_ROOT),
        has(StatxAttributes::AUTOMOUNT),
    ];
    fields.map(|field| field.unwrap_or_else(unknown)).join("\t") + "\n"
}

fn unknown() -> String {
    "-".to_owned()
}

/// The inode that the listing of its directory gives a path.
fn listed(path: &Path) -> Option<u64> {
    let (parent, name) = (path.parent()?, path.file_name()?);
    let directory = open(parent, DIRECTORY, Mode::empty()).ok()?;
    let mut buffer = Vec::with_capacity(32 * 1024);
    let mut listing = RawDir::new(directory, buffer.spare_capacity_mut());
    while let Some(Ok(entry)) = listing.next() {
        if OsStr::from_bytes(entry.file_name().to_bytes()) == name {
            return Some(entry.ino());
        }
    }
    None
}

/// The mount point and the file system's type of one line, as proc(5) has them.
fn mount_point(line: &[u8]) -> Option<(PathBuf, String)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let path = unescaped(fields.nth(4)?);
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    Some((PathBuf::from(OsString::from_vec(path)), String::from_utf8_lossy(kind).into_owned()))
}

/// Blanks, tabs, line ends and backslashes are three octal digits after a backslash.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match (first, code.and_then(|digits| u8::from_str_radix(digits, 8).ok())) {
            (b'\\', Some(byte)) => {
                plain.push(byte);
                rest = &after[3..];
            }
            _ => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

/// A device as `statx` and the table of mounts write it.
#[must_use]
pub fn device_text(device: u64) -> String {
    format!("{}:{}", major(device), minor(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_gives_the_point_and_the_type() {
        let line = b"36 35 98:0 /mnt1 /mnt\\0402/a\\134b rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
        assert_eq!(mount_point(line), Some((PathBuf::from("/mnt 2/a\\b"), "ext3".to_owned())));
        assert_eq!(mount_point(b"22 1 0:21 / /proc rw - proc proc rw"), Some(("/proc".into(), "proc".to_owned())));
        assert_eq!(mount_point(b"22 1 0:21"), None);
        assert_eq!(unescaped(b"\\04"), b"\\04");
    }

    #[test]
    fn a_plain_directory_has_the_inode_of_its_listing_and_a_mount_point_says_that_it_is_one() {
        let folder = std::env::temp_dir().join(format!("firstlight-audit-{}", std::process::id()));
        fs::create_dir_all(folder.join("plain")).unwrap();
        let file = folder.join("audit");
        audit(&file, &[folder.join("plain").into_os_string(), "/nowhere/at/all".into()]).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        let [.., plain, nowhere] = rows.as_slice() else { panic!("two rows at least") };
        assert_eq!((plain[2], plain[4], plain[6]), (plain[3], plain[5], "0"));
        assert_eq!(nowhere[2..], ["-", "-", "-", "-", "-", "-"]);
        assert_eq!(rows.iter().find(|row| row[0] == "/proc").unwrap()[6], "1");
    }
}
