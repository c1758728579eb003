//! One line of a boot loader that has a time, by the grammar of its maker.

use crate::kernel_log::bytes::{number, seconds, unpadded};

/// Whose lines these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// `[0000.114] [TegraBoot] ...`: seconds with three decimals.
    Millis,
    /// `[1210] booting linux`: milliseconds, from Little Kernel, of which many boot loaders of Android are made.
    LittleKernel,
    /// `B -     44106 - bootable_media_detect_success`: microseconds since power on.
    Qualcomm,
    /// `1040 |      11 ms |       2 ms | Board PostTempRamInit hook`.
    Slim,
    /// `[   10.122428084,5] OPAL starting...`: seconds with nine decimals, and a level.
    Skiboot,
}

impl Grammar {
    /// What a stage is called that does not name itself.
    pub fn loader(self) -> &'static str {
        match self {
            Self::Millis => "boot loader",
            Self::LittleKernel => "LK",
            Self::Qualcomm => "PBL and SBL",
            Self::Slim => "Slim Bootloader",
            Self::Skiboot => "OPAL",
        }
    }
}

/// A line that has a time, or a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoaderLine<'a> {
    /// Whose it is.
    pub grammar: Grammar,
    /// When it was printed, on the loader's clock.
    pub at_ns: Option<i64>,
    /// How long the step took that it names.
    pub took_ns: Option<i64>,
    /// The step, or the message.
    pub name: &'a str,
    /// The loader, where the line names it.
    pub stage: Option<&'a str>,
    /// The loader greets with its name: its stage begins here.
    pub greets: bool,
    /// The step begins here.
    pub begins: bool,
    /// It ends here.
    pub ends: bool,
}

impl<'a> LoaderLine<'a> {
    /// A line with a time in brackets, and nothing else that is known.
    pub fn stamped(at_ns: i64, text: &'a str) -> Self {
        // `[TegraBoot] ...`, or `I> Welcome to MB2(TBoot-BPMP) ...`.
        let tagged = text.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        let welcome = text.split_once("Welcome to ").map(|(_, own)| own.split([' ', '(', ',']).next().unwrap_or(own));
        let stage = tagged.map(|(tag, _)| tag).or(welcome).filter(|stage| !stage.is_empty() && stage.len() < 40);
        let greets = stage.is_some() && tagged.is_none_or(|(_, after)| after.starts_with(" (version"));
        Self { stage, greets, ..Self::of(Grammar::Millis, Some(at_ns), text) }
    }

    /// A line of which nothing but its time is known.
    fn of(grammar: Grammar, at_ns: Option<i64>, name: &'a str) -> Self {
        Self { grammar, at_ns, took_ns: None, name, stage: None, greets: false, begins: false, ends: false }
    }

    /// Whether no other program writes such lines.
    pub fn is_certain(&self) -> bool {
        match self.grammar {
            Grammar::Millis => self.stage.is_some(),
            Grammar::LittleKernel => self.greets,
            Grammar::Qualcomm | Grammar::Slim | Grammar::Skiboot => true,
        }
    }
}

/// The line as its loader means it.
///
/// ```
/// use firstlight_formats::firmware::loader_line::loader_line;
/// let step = loader_line(b"1040 |      11 ms |       2 ms | Board PostTempRamInit hook").unwrap();
/// assert_eq!((step.at_ns, step.took_ns, step.name), (Some(11_000_000), Some(2_000_000), "Board PostTempRamInit hook"));
/// let begin = loader_line(b"B -    205082 - boot_flash_init, Start").unwrap();
/// assert_eq!((begin.at_ns, begin.begins, begin.name), (Some(205_082_000), true, "boot_flash_init"));
/// let tegra = loader_line(b"[0000.114] [TegraBoot] (version 00.00.2018.01-l4t-8728f3cb)").unwrap();
/// assert_eq!((tegra.at_ns, tegra.stage), (Some(114_000_000), Some("TegraBoot")));
/// let lk = loader_line(b"[1210] booting linux @ 0x80080000").unwrap();
/// assert_eq!((lk.at_ns, lk.is_certain()), (Some(1_210_000_000), false));
/// let opal = loader_line(b"[   10.122437735,8] OPAL is Powered By Linked-List Technology.").unwrap();
/// assert_eq!((opal.at_ns, opal.name), (Some(10_122_437_735), "OPAL is Powered By Linked-List Technology."));
/// assert!(loader_line(b"[0] welcome to lk").unwrap().is_certain());
/// assert!(loader_line(b"[    0.412345] widget: ready").is_none());
/// ```
pub fn loader_line(line: &[u8]) -> Option<LoaderLine<'_>> {
    let line = line.trim_ascii_start();
    match line.first()? {
        b'[' => stamped(line).or_else(|| skiboot(line)).or_else(|| little_kernel(line)),
        b'B' | b'D' => qualcomm(line),
        b'0'..=b'9' => slim(line),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().map(str::trim)
}

/// The time of `[0007.646] ` and what comes after; the kernel's own stamps have six decimals.
pub fn loader_stamp(line: &[u8]) -> Option<(i64, &[u8])> {
    let inside = unpadded(line.strip_prefix(b"[")?);
    let decimals = number(inside)?.1.strip_prefix(b".")?;
    if decimals.len() < 4 || decimals[3] != b']' {
        return None;
    }
    let (time, rest) = seconds(inside)?;
    Some((time, rest.strip_prefix(b"]")?))
}

fn stamped(line: &[u8]) -> Option<LoaderLine<'_>> {
    let (at, rest) = loader_stamp(line)?;
    Some(LoaderLine::stamped(at, text(rest)?))
}

/// `[   10.122428084,5] text`, as skiboot's console writes it (`core/console-log.c`): the time base, and a level.
fn skiboot(line: &[u8]) -> Option<LoaderLine<'_>> {
    let inside = unpadded(line.strip_prefix(b"[")?);
    let decimals = number(inside)?.1.strip_prefix(b".")?;
    let level = decimals.get(9..12).filter(|level| level.starts_with(b",") && level.ends_with(b"]"));
    if !level?[1].is_ascii_digit() {
        return None;
    }
    let (at, rest) = seconds(inside)?;
    Some(LoaderLine::of(Grammar::Skiboot, Some(at), text(rest.get(3..)?)?))
}

/// `[1210] text`. Other programs number their lines so, too: the time counts where this loader has greeted.
fn little_kernel(line: &[u8]) -> Option<LoaderLine<'_>> {
    let (ms, rest) = number(line.strip_prefix(b"[")?)?;
    let words = text(rest.strip_prefix(b"] ")?)?;
    let greets = words.starts_with("welcome to lk");
    let stage = greets.then_some("LK");
    Some(LoaderLine { stage, greets, ..LoaderLine::of(Grammar::LittleKernel, Some(ms.checked_mul(1_000_000)?), words) })
}

/// `B` has the time since power on, `D` how long a step took.
fn qualcomm(line: &[u8]) -> Option<LoaderLine<'_>> {
    let (kind, rest) = line.split_first()?;
    let (us, rest) = number(unpadded(rest.strip_prefix(b" - ")?))?;
    let words = text(rest.strip_prefix(b" - ")?)?;
    let time = us.checked_mul(1_000)?;
    let none = LoaderLine::of(Grammar::Qualcomm, None, words);
    if *kind == b'D' {
        let name = words.split_once(", Delta").map_or(words, |(name, _)| name);
        return Some(LoaderLine { name, took_ns: Some(time), ..none });
    }
    let at = LoaderLine { at_ns: Some(time), ..none };
    Some(if let Some(name) = words.strip_suffix(", Start") {
        LoaderLine { name, begins: true, ..at }
    } else if let Some(name) = words.strip_suffix(", End") {
        LoaderLine { name, ends: true, ..at }
    } else {
        at
    })
}

/// Identifier, time, time since the row above, and what was reached.
fn slim(line: &[u8]) -> Option<LoaderLine<'_>> {
    let mut cells = text(line)?.split('|').map(str::trim);
    let (id, at, since, name) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    if id.len() != 4 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let (at, took) = (slim_time(at)?, slim_time(since)?);
    Some(LoaderLine { took_ns: Some(took), ..LoaderLine::of(Grammar::Slim, Some(at), name) })
}

fn slim_time(cell: &str) -> Option<i64> {
    let (value, unit) = cell.split_once(' ')?;
    let each = match unit.trim() {
        "ms" => 1_000_000,
        "us" => 1_000,
        _ => return None,
    };
    value.parse::<i64>().ok()?.checked_mul(each)
}
