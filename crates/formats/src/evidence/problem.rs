//! What is wrong with a record.

/// The kinds of damage and doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The beginning is missing (a ring that was overwritten).
    LostHead,
    /// The end is missing (a full buffer, a capture that stopped).
    LostTail,
    /// Records in between are missing.
    Lost,
    /// The record was cut in the middle of a line or field.
    Cut,
    /// Lines that are torn, merged, or have no shape of the format.
    Torn,
    /// The same lines stand in it again (a console that was enabled late).
    Replay,
    /// Lines without time.
    Untimed,
    /// The clock jumped.
    ClockJump,
    /// The clock began anew: how much time passed meanwhile is unknown.
    ClockStep,
    /// The clock wrapped round.
    ClockWrap,
    /// The clock has coarse steps.
    Quantised,
    /// Something began and did not end.
    Unfinished,
    /// A call began, and the record goes on without its return: it hung.
    NeverReturned,
    /// Something ended and had not begun.
    Unpaired,
    /// Initcalls overlapped while their start was one shared stamp.
    SharedStart,
    /// Durations that count 1024 ns as a microsecond.
    ShiftedMicroseconds,
    /// Short calls were left out when the record was made.
    Censored,
    /// Values were cut to a limit when the record was made.
    Clamped,
    /// Invalid UTF-8 or NUL bytes.
    Encoding,
    /// Terminal escapes.
    Escapes,
    /// Lines or fields beyond the limit.
    Overlong,
    /// Two statements of the record exclude one another.
    Contradiction,
    /// Values that cannot be.
    Implausible,
    /// Parts that are of no known kind.
    Unrecognised,
}

impl ProblemKind {
    /// The name used in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::LostHead => "lost_head",
            Self::LostTail => "lost_tail",
            Self::Lost => "lost",
            Self::Cut => "cut",
            Self::Torn => "torn",
            Self::Replay => "replay",
            Self::Untimed => "untimed",
            Self::ClockJump => "clock_jump",
            Self::ClockStep => "clock_step",
            Self::ClockWrap => "clock_wrap",
            Self::Quantised => "quantised",
            Self::Unfinished => "unfinished",
            Self::NeverReturned => "never_returned",
            Self::Unpaired => "unpaired",
            Self::SharedStart => "shared_start",
            Self::ShiftedMicroseconds => "shifted_microseconds",
            Self::Censored => "censored",
            Self::Clamped => "clamped",
            Self::Encoding => "encoding",
            Self::Escapes => "escapes",
            Self::Overlong => "overlong",
            Self::Contradiction => "contradiction",
            Self::Implausible => "implausible",
            Self::Unrecognised => "unrecognised",
        }
    }

    /// Whether evidence is missing because of it.
    pub fn loses(self) -> bool {
        matches!(
            self,
            Self::LostHead
                | Self::LostTail
                | Self::Lost
                | Self::Cut
                | Self::Censored
                | Self::Overlong
                | Self::NeverReturned
                | Self::ClockStep
        )
    }
}

/// Something wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// What, for a person; a count and an example rather than one problem for every line.
    pub detail: String,
    /// Where it was met first.
    pub line: Option<u64>,
    /// How many records are missing, where that can be counted.
    pub lost: Option<u64>,
}
