//! Marks that the user asks for: the first line of the log that a pattern matches.

use crate::boot_mark::BootMark;
use crate::log::placed;
use crate::AlignedRecord;
use firstlight_schema::Mark;
use regex::Regex;

/// A detail has no more characters than this.
const DETAIL: usize = 120;

/// A mark and the pattern of its line.
#[derive(Debug, Clone)]
pub struct WantedMark {
    name: String,
    pattern: Regex,
}

impl WantedMark {
    /// Reads the pattern of a mark. Its time to match grows linearly with the line, whatever the pattern.
    ///
    /// # Errors
    ///
    /// What is wrong with the pattern, in one line.
    ///
    /// ```
    /// use firstlight_merge::WantedMark;
    /// assert!(WantedMark::new("camera_up", "camera [0-9] up").is_ok());
    /// assert_eq!(WantedMark::new("camera_up", "camera (").unwrap_err(), "unclosed group");
    /// ```
    pub fn new(name: &str, pattern: &str) -> Result<Self, String> {
        let last_line = |error: regex::Error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        };
        Ok(Self { name: name.to_owned(), pattern: Regex::new(pattern).map_err(last_line)? })
    }

    /// Whether a line has the mark.
    pub fn matches(&self, line: &str) -> bool {
        self.pattern.is_match(line)
    }
}

/// A mark whose name is the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnMark {
    /// Its name.
    pub name: String,
    /// On the boot's clock.
    pub time_ns: i64,
    /// The file below `raw/` that has its line.
    pub source: String,
    /// The line.
    pub detail: String,
}

/// The marks that were found, and what to say of the others.
#[derive(Debug, Default)]
pub struct FoundMarks {
    /// Those with the name of a known mark.
    pub known: Vec<BootMark>,
    /// Those with a name of their own.
    pub own: Vec<OwnMark>,
    /// Patterns that match no line with a time.
    pub missing: Vec<String>,
    /// Of the end of the boot, when no line matches its pattern: what is missing.
    pub unmatched_ready: Option<String>,
    /// Lines that several patterns match.
    pub warnings: Vec<String>,
}

impl FoundMarks {
    /// Looks for the lines of all marks.
    pub fn of(pieces: &[AlignedRecord<'_>], wanted: &[WantedMark]) -> Self {
        let mut found = Self::default();
        let mut lines: Vec<(&str, &str, u64)> = Vec::new();
        for one in wanted {
            let Some(line) = first_match(pieces, &one.pattern) else {
                let untimed =
                    pieces.iter().any(|piece| piece.evidence.log.iter().any(|(_, text)| one.pattern.is_match(text)));
                let why = if untimed { "only lines without a time match" } else { "no line matches" };
                let missing = format!("{why} the pattern of the mark `{}`: `{}`", one.name, one.pattern);
                if !untimed && Mark::parse(&one.name) == Some(Mark::Ready) {
                    found.unmatched_ready = Some(missing.clone());
                }
                found.missing.push(missing);
                continue;
            };
            let here = (line.file, line.number);
            if let Some((_, other, _)) = lines.iter().find(|(file, _, number)| (*file, *number) == here) {
                let both =
                    format!("the marks `{other}` and `{}` match the same line {} of {}", one.name, here.1, here.0);
                found.warnings.push(both);
            }
            lines.push((line.file, &one.name, line.number));
            let (time_ns, source) = (line.time_ns, line.file.to_owned());
            let detail: String = line.text.trim().chars().take(DETAIL).collect();
            match Mark::parse(&one.name) {
                Some(mark) => found.known.push(BootMark::new(mark, time_ns, source, detail)),
                None => found.own.push(OwnMark { name: one.name.clone(), time_ns, source, detail }),
            }
        }
        found.own.sort_by_key(|mark| mark.time_ns);
        found
    }

    /// Leaves out the user's own marks after the end of the boot, and says so.
    pub fn end_at(&mut self, end: i64) {
        let (kept, late): (Vec<OwnMark>, Vec<OwnMark>) =
            std::mem::take(&mut self.own).into_iter().partition(|mark| mark.time_ns <= end);
        self.own = kept;
        self.warnings.extend(late.into_iter().map(|mark| {
            let later = mark.time_ns.saturating_sub(end) as f64 / 1e9;
            format!("the mark `{}` is {later:.6} s after the end of the boot and left out", mark.name)
        }));
    }
}

struct Line<'a> {
    time_ns: i64,
    file: &'a str,
    number: u64,
    text: &'a str,
}

/// The earliest line that matches.
fn first_match<'a>(pieces: &[AlignedRecord<'a>], pattern: &Regex) -> Option<Line<'a>> {
    let of = |piece: &AlignedRecord<'a>| {
        let evidence = piece.evidence;
        let matching = evidence.log.iter().filter(|(_, text)| pattern.is_match(text));
        let timed = matching.filter_map(|(stamp, text)| {
            Some(Line { time_ns: placed(piece, &stamp)?, file: piece.file, number: stamp.line, text })
        });
        timed.min_by_key(|line| line.time_ns)
    };
    pieces.iter().filter_map(of).min_by_key(|line| line.time_ns)
}
