//! `dmesg`, `kern.log`, and whatever else holds the kernel's messages with their stamps.

use super::boot_messages::is_boot_message;
use super::read_late::{is_of_installer, take_times_off};
use super::text::read;
use super::{dates, prefix, unstamped_lines};
use crate::about::{About, Origin, Traits};
use crate::evidence::{Evidence, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct Printk;

/// What the lines at the beginning of a text look like.
#[derive(Debug, Default, Clone, Copy)]
pub struct Looks {
    /// Lines that are not empty.
    pub lines: usize,
    /// Of them, with a time that the kernel or dmesg wrote.
    pub stamped: usize,
    /// Of them, banners and the like of boot loaders.
    pub loaders: usize,
    /// Of them, messages that every boot has.
    pub boot: usize,
}

/// Looks at the beginning of a text.
pub fn looks(head: &Head<'_>) -> Looks {
    let mut looks = Looks::default();
    if head.bytes.starts_with(b"\x1f\x8b") || head.bytes.starts_with(b"\x89PNG") {
        return looks;
    }
    for line in head.bytes.split(|&byte| byte == b'\n').take(400) {
        let cleaned: Vec<u8>;
        let mut line = line.trim_ascii_end();
        if line.contains(&0x1b) || line.contains(&0) {
            let mut bytes = [line, b"\n"].concat();
            bytes.retain(|&byte| byte != 0);
            let mut input: &[u8] = &bytes;
            let mut lines = crate::lines::Lines::new(&mut input);
            cleaned = lines.next_line().ok().flatten().map(|line| line.bytes.to_vec()).unwrap_or_default();
            line = &cleaned;
        }
        let line = line.strip_prefix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        looks.lines += 1;
        let found = prefix::parse(line);
        let time = found.time.is_some() && !found.foreign;
        // Many programs write dates; only dmesg has them in brackets, or with a comma; logcat and installers name the kernel.
        let dmesg = line.first() == Some(&b'[')
            || (line.get(4) == Some(&b'-') && line.get(19) == Some(&b','))
            || dates::of_logcat(line).is_some()
            || dates::of_installer(line).is_some();
        let dated = matches!(found.time, Some(prefix::Time::Date(..))) && !dmesg;
        looks.stamped += usize::from(time && !dated);
        looks.boot += usize::from(is_boot_message(found.text));
        looks.loaders += usize::from(found.time.is_none() && unstamped_lines::sign(line).is_some());
    }
    looks
}

impl Format for Printk {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Printk, Traits::of(Origin::KernelLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let looks = looks(head);
        match looks {
            Looks { lines, stamped, .. } if stamped >= 3 && stamped * 2 >= lines => Likelihood::Likely,
            Looks { stamped, boot, .. } if stamped > 0 || boot > 0 => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let installer = is_of_installer(input.bytes.fill_buf()?);
        let mut boots = read(self.about(), "", false, input.bytes)?;
        if let [only] = boots.as_mut_slice() {
            if only.log.len() == 1 && only.log.iter().all(|(_, text)| text.starts_with("Linux version ")) {
                let detail =
                    "it is the version of a kernel alone, as `/proc/version` has it: nothing of the boot follows";
                only.problem(ProblemKind::LostTail, Some(1), detail);
            }
        }
        if installer {
            boots.iter_mut().for_each(take_times_off);
        }
        Ok(boots)
    }
}
