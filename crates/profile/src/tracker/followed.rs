//! What was seen of the entries of a function.

/// What happened to one function's entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Followed {
    /// Entries by a jump in tail position.
    pub tails: u64,
    /// Executions of its first instruction that were not entries: a loop to its start, or a fault's second try.
    pub again: u64,
    /// Entries behind its first instruction.
    pub inside: u64,
    /// Entries that ended by the function dropping its own return address and returning by its caller's.
    pub discards: u64,
    /// It calls code inside itself, and returns from that.
    pub calls_inside: bool,
}
