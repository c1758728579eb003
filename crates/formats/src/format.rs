//! What every reader is.

use crate::about::{About, Role};
use crate::evidence::Evidence;
use crate::lines::Lines;
use crate::FormatError;
use std::io::BufRead;

/// How much of a record [`Format::likelihood`] sees at most.
pub const HEAD_BYTES: usize = 64 << 10;

/// How sure a reader is that a record is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likelihood {
    /// Nothing speaks for it.
    No,
    /// It could be read, as could much else.
    Possible,
    /// Several lines have the format's shape.
    Likely,
    /// A signature that no other format has.
    Certain,
}

impl Likelihood {
    /// Of a record that begins with, or holds, a signature that no other format has.
    pub(crate) fn of_signature(found: bool) -> Self {
        if found {
            Self::Certain
        } else {
            Self::No
        }
    }

    /// Of a text in which so many lines have a shape that other formats have by chance only.
    pub(crate) fn of_rows(rows: usize) -> Self {
        match rows {
            0 => Self::No,
            1 => Self::Likely,
            _ => Self::Certain,
        }
    }

    /// Of a text with a line for each event, where `shaped` of the first `lines` have the shape of the format.
    pub(crate) fn of_shape(shaped: usize, lines: usize) -> Self {
        match shaped {
            2.. if shaped * 2 > lines => Self::Likely,
            1.. if shaped * 2 > lines => Self::Possible,
            _ => Self::No,
        }
    }
}

/// The beginning of a record.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// Its file name as given, with the folders inside an archive; empty for standard input.
    pub name: &'a str,
    /// Its first bytes, at most [`HEAD_BYTES`].
    pub bytes: &'a [u8],
}

impl Head<'_> {
    /// The last part of the name.
    ///
    /// ```
    /// use firstlight_formats::format::Head;
    /// assert_eq!(Head { name: "fpdt/boot/firmware_start_ns", bytes: b"" }.file_name(), "firmware_start_ns");
    /// ```
    pub fn file_name(&self) -> &str {
        file_name(self.name)
    }
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A record to be read, once and in order.
pub struct Input<'a> {
    /// Its file name as given, with the folders inside an archive; empty for standard input.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a mut dyn BufRead,
    /// Who finds the readers of what it contains.
    pub nested: &'a dyn Recognise,
}

/// Finds the reader of a record.
pub trait Recognise: Sync {
    /// The reader that is surest of a record.
    ///
    /// # Errors
    ///
    /// [`FormatError::Unrecognised`], which says what the bytes look like.
    fn recognise(&self, head: &Head<'_>) -> Result<&'static dyn Format, FormatError>;

    /// The reader of records that are wanted for something.
    fn for_role(&self, role: Role) -> Option<&'static dyn Format>;
}

impl<'a> Input<'a> {
    /// The last part of the name.
    pub fn file_name(&self) -> &'a str {
        file_name(self.name)
    }
}

/// One input format.
pub trait Format: Sync {
    /// Its name, and what merging must know of its records.
    fn about(&self) -> &'static About;

    /// What `--as` takes.
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// What a message calls it.
    fn title(&self) -> &'static str {
        self.about().title
    }

    /// The error for a record with nothing of the format. *what* says what was found, or was not.
    fn not_this(&self, what: &str) -> FormatError {
        FormatError::NotThis { format: self.title(), what: what.to_owned() }
    }

    /// The evidence of a record of text that was read to its end, with what was wrong with its lines.
    ///
    /// # Errors
    ///
    /// [`FormatError::NotThis`] with *nothing* where no line of it was understood.
    fn of_lines(&self, mut evidence: Evidence, lines: &Lines<'_>, nothing: &str) -> Result<Vec<Evidence>, FormatError> {
        if evidence.understood == 0 {
            return Err(self.not_this(nothing));
        }
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }

    /// How sure the reader is that a record is its own.
    fn likelihood(&self, head: &Head<'_>) -> Likelihood;

    /// Reads a record: one piece of evidence for every boot in it, or for every part of a record that holds several.
    ///
    /// # Errors
    ///
    /// [`FormatError`] only when nothing of the format is there; damage gives a partial result with its problems.
    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError>;
}
