//! The lines of a record of text, whatever was done to it on the way.

use crate::counts::counted;
use crate::evidence::{Problem, ProblemKind};
pub use blanks::with_blanks;
use blanks::{has_for_blanks, put_blanks, NO_BREAK};
use block::Block;
use escapes::clean;
use memchr::{memchr, memchr2, memmem};
use std::io::{BufRead, Result};

mod blanks;
mod block;
mod escapes;

/// What is kept of a line; the rest is skipped, and counted.
pub const LINE_BYTES: usize = 1 << 20;

/// One line without its end, terminal escapes and NUL bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number in the record, from 1.
    pub number: u64,
    /// Its bytes; they need not be UTF-8.
    pub bytes: &'a [u8],
}

/// Gives the lines of a record one after the other, without a copy where they lie whole in the buffer.
///
/// ```
/// use firstlight_formats::lines::Lines;
/// let mut bytes: &[u8] = b"\x1b[1mgizmo\x1b[0m: bound\r\nlast";
/// let mut lines = Lines::new(&mut bytes);
/// assert_eq!(lines.next_line()?.map(|line| (line.number, line.bytes)), Some((1, &b"gizmo: bound"[..])));
/// assert_eq!(lines.next_line()?.map(|line| (line.number, line.bytes)), Some((2, &b"last"[..])));
/// assert_eq!(lines.next_line()?, None);
/// assert_eq!(lines.problems().len(), 2, "the escapes, and the last line without its end");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Lines<'a> {
    input: &'a mut dyn BufRead,
    taken: usize,
    block: Block,
    number: u64,
    joined: Vec<u8>,
    cleaned: Vec<u8>,
    escaped: Count,
    nul: Count,
    overlong: Count,
    unended: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    lines: u64,
    first: u64,
}

impl Count {
    fn at(&mut self, line: u64) {
        self.lines += 1;
        if self.lines == 1 {
            self.first = line;
        }
    }
}

/// A line without the carriage returns at its end.
#[inline]
fn without_return(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or(bytes)
}

impl<'a> Lines<'a> {
    /// The lines of `input`, from where it stands.
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Self {
            input,
            taken: 0,
            block: Block::default(),
            number: 0,
            joined: Vec::new(),
            cleaned: Vec::new(),
            escaped: Count::default(),
            nul: Count::default(),
            overlong: Count::default(),
            unended: None,
        }
    }

    /// The next line, or none at the end.
    ///
    /// # Errors
    ///
    /// What reading the input gives.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        self.input.consume(self.taken);
        self.taken = 0;
        let length = match self.block.next() {
            Some(length) => Some(length),
            None => self.look()?,
        };
        let soiled = self.block.soiled;
        let bytes = match length {
            Some(length) => {
                self.number += 1;
                self.taken = length + 1;
                self.input.fill_buf()?.get(..length).unwrap_or_default()
            }
            None if self.input.fill_buf()?.is_empty() => return Ok(None),
            None => {
                self.number += 1;
                self.join()?;
                &self.joined[..]
            }
        };
        let bytes = without_return(bytes);
        let no_break = soiled && memmem::find(bytes, NO_BREAK).is_some() && has_for_blanks(bytes);
        if !soiled || memchr2(0, 0x1b, bytes).is_none() && !no_break {
            return Ok(Some(Line { number: self.number, bytes }));
        }
        self.cleaned.clear();
        let (escapes, nuls) = clean(bytes, &mut self.cleaned);
        if escapes {
            self.escaped.at(self.number);
        }
        if nuls {
            self.nul.at(self.number);
        }
        if no_break {
            let cleaned = std::mem::take(&mut self.cleaned);
            put_blanks(&cleaned, &mut self.cleaned);
        }
        Ok(Some(Line { number: self.number, bytes: &self.cleaned }))
    }

    /// Gives every line to a function, to the end of the input.
    ///
    /// # Errors
    ///
    /// What reading the input gives.
    pub fn each(&mut self, mut give: impl FnMut(Line<'_>)) -> Result<()> {
        loop {
            if self.block.is_over() {
                self.input.consume(std::mem::take(&mut self.taken));
                let buffer = self.input.fill_buf()?;
                self.block.look(buffer);
                // Most blocks are clean, and their lines lie whole in them.
                if !self.block.soiled {
                    for bytes in self.block.lines(buffer) {
                        self.number += 1;
                        give(Line { number: self.number, bytes: without_return(bytes) });
                    }
                    self.taken = self.block.given();
                    continue;
                }
            }
            match self.next_line()? {
                Some(line) => give(line),
                None => return Ok(()),
            }
        }
    }

    /// Looks through the next piece of the buffer; gives the length of its first line, if that lies whole in it.
    #[cold]
    fn look(&mut self) -> Result<Option<usize>> {
        let buffer = self.input.fill_buf()?;
        self.block.look(buffer);
        Ok(self.block.next())
    }

    fn join(&mut self) -> Result<()> {
        self.joined.clear();
        let mut overlong = false;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                self.unended = Some(self.number);
                break;
            }
            let end = memchr(b'\n', buffer);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let kept = part.len().min(LINE_BYTES - self.joined.len());
            overlong |= kept < part.len();
            self.joined.extend_from_slice(&part[..kept]);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if overlong {
            self.overlong.at(self.number);
        }
        Ok(())
    }

    /// How many lines were given.
    pub fn count(&self) -> u64 {
        self.number
    }

    /// What was wrong with the lines so far.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut note = |count: Count, kind, what: &str| {
            if count.lines > 0 {
                let detail = counted(count.lines, &format!("# line[|s] {what}"));
                problems.push(Problem { kind, detail, line: Some(count.first), lost: None });
            }
        };
        note(self.escaped, ProblemKind::Escapes, "held terminal escapes, which were taken out");
        note(self.nul, ProblemKind::Encoding, "held NUL bytes, which were taken out");
        note(self.overlong, ProblemKind::Overlong, "[was|were] longer than 1 MiB; the rest of [it|them] was skipped");
        if let Some(line) = self.unended {
            let detail = "the last line has no end: the record may have been cut off".to_owned();
            problems.push(Problem { kind: ProblemKind::Cut, detail, line: Some(line), lost: None });
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn lines(bytes: &[u8], capacity: usize) -> (Vec<Vec<u8>>, Vec<ProblemKind>) {
        let mut input = BufReader::with_capacity(capacity, bytes);
        let mut lines = Lines::new(&mut input);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            assert_eq!(line.number, found.len() as u64 + 1);
            found.push(line.bytes.to_vec());
        }
        (found, lines.problems().into_iter().map(|problem| problem.kind).collect())
    }

    #[test]
    fn the_buffer_makes_no_difference() {
        let text = b"one\r\n\ntwo\x1b[0;32m green\x1b[m\nthr\0ee\n\x1b]0;title\x07four\nfive";
        let expected: Vec<&[u8]> = vec![b"one", b"", b"two green", b"three", b"four", b"five"];
        for capacity in 1..text.len() + 2 {
            let (found, problems) = lines(text, capacity);
            assert_eq!(found, expected, "capacity {capacity}");
            assert_eq!(problems, [ProblemKind::Escapes, ProblemKind::Encoding, ProblemKind::Cut]);
        }
    }

    #[test]
    fn a_huge_line_is_cut_and_the_next_is_whole() {
        let mut text = vec![b'x'; LINE_BYTES + 5];
        text.extend_from_slice(b"\nnext\n");
        let (found, problems) = lines(&text, 4096);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [LINE_BYTES, 4]);
        assert_eq!(problems, [ProblemKind::Overlong]);
        assert_eq!(lines(&text, 2 * LINE_BYTES), (found, problems));
    }
}
