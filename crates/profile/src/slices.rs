//! The tree, the threads and the user code in slices of time: what each did between two cuts of the virtual clock.
//!
//! A slice ends where the clock reaches the next edge of a grid, and where a phase ends. Between two events one context
//! runs, so a stretch that crosses an edge is divided by arithmetic: slices are exact to the instruction, and their sum is
//! the tree.

use crate::instant::Instant;
pub use crate::tree::NodeRow;
use crate::tree::{CallTree, NodeId};
use crate::userspace::code::Executed;
use crate::userspace::Spent;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first step of the grid, in virtual nanoseconds.
pub const STEP_NS: u64 = 10_000_000;

/// After this many steps the next one is twice as long, so that an hour is a few thousand slices.
pub const STEPS: u64 = 512;

/// The first edge of the grid after an instant, in virtual nanoseconds.
///
/// ```
/// use firstlight_profile::slices::edge_after;
/// assert_eq!(edge_after(0), 10_000_000);
/// assert_eq!(edge_after(10_000_000), 20_000_000);
/// assert_eq!(edge_after(5_120_000_000), 5_140_000_000);
/// ```
pub fn edge_after(ns: u64) -> u64 {
    let (mut start, mut step) = (0_u64, STEP_NS);
    loop {
        let end = start.saturating_add(step.saturating_mul(STEPS));
        if ns < end || end == u64::MAX {
            return start.saturating_add(((ns - start) / step + 1).saturating_mul(step));
        }
        (start, step) = (end, step.saturating_mul(2));
    }
}

/// One slice: it begins where the one before ends, the first at power-on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Its end.
    pub end: Instant,
    /// The phase it lies in: the mark that began it, as an index into the marks.
    pub mark: u32,
    /// What the nodes did in it, where that is not zero, in their order.
    #[serde(serialize_with = "serialize_rows", deserialize_with = "deserialize_rows")]
    pub rows: Vec<NodeRow>,
    /// The processor at its end.
    pub running: UnderWay,
    /// What was executed of user code in it, in order of threads, programs and blocks.
    pub code: Vec<Executed>,
}

/// The run that is under way at the end of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnderWay {
    /// Its number among the runs.
    pub run: u32,
    /// What its task had executed in it by then.
    pub spent: Spent,
}

/// A slice as the file has it: of each row the distance to the node before, calls and instructions, as varints.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PackedSlice {
    end: Instant,
    mark: u32,
    #[serde(serialize_with = "serialize_bytes")]
    rows: Vec<u8>,
    running: UnderWay,
    code: Vec<Executed>,
}

/// Where a slice ends.
#[derive(Debug)]
pub(crate) struct End {
    pub at: Instant,
    /// The phase it lies in: the mark that began it, as an index into the marks.
    pub mark: u32,
    pub running: UnderWay,
    /// What was executed of user code since the slice began.
    pub code: Vec<Executed>,
}

impl End {
    fn of(self, rows: Vec<u8>) -> PackedSlice {
        let Self { at, mark, running, code } = self;
        PackedSlice { end: at, mark, rows, running, code }
    }
}

fn serialize_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

fn serialize_rows<S: Serializer>(rows: &[NodeRow], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&packed(rows.iter().copied()))
}

fn deserialize_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<NodeRow>, D::Error> {
    struct Bytes;
    impl serde::de::Visitor<'_> for Bytes {
        type Value = Vec<NodeRow>;
        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("the rows of a slice")
        }
        fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            unpacked(bytes).ok_or_else(|| E::custom("the rows of a slice are cut short"))
        }
    }
    deserializer.deserialize_bytes(Bytes)
}

fn packed(rows: impl Iterator<Item = NodeRow>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0;
    for row in rows {
        for mut figure in [u64::from(row.node - before), row.calls, row.self_instructions] {
            while figure >= 0x80 {
                bytes.push(figure as u8 | 0x80);
                figure >>= 7;
            }
            bytes.push(figure as u8);
        }
        before = row.node;
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<Vec<NodeRow>> {
    let mut bytes = bytes.iter().copied().peekable();
    let mut rows = Vec::new();
    let mut before: NodeId = 0;
    while bytes.peek().is_some() {
        let [distance, calls, self_instructions] = [figure(&mut bytes)?, figure(&mut bytes)?, figure(&mut bytes)?];
        let node = before.checked_add(NodeId::try_from(distance).ok()?)?;
        rows.push(NodeRow { node, calls, self_instructions });
        before = node;
    }
    Some(rows)
}

fn figure(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = bytes.next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The slices of a boot under way.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    closed: Vec<PackedSlice>,
    /// Each node's entries and own instructions at the last cut.
    before: Vec<(u64, u64)>,
}

impl Slices {
    /// Ends a slice.
    pub fn cut(&mut self, tree: &mut CallTree, end: End) {
        let rows = packed(tree.changed_since(&self.before));
        self.closed.push(end.of(rows));
        tree.settle(&mut self.before);
    }

    /// User code was not followed to the end.
    pub fn forget_code(&mut self) {
        for slice in &mut self.closed {
            slice.code.clear();
        }
    }

    /// All slices, with what there is of the present one up to here; it goes on.
    pub fn until(&self, tree: &CallTree, end: End) -> SlicesSoFar<'_> {
        let rows = packed(tree.changed_since(&self.before));
        SlicesSoFar { closed: &self.closed, open: end.of(rows) }
    }
}

/// The slices as a file has them.
#[derive(Debug)]
pub(crate) struct SlicesSoFar<'t> {
    closed: &'t [PackedSlice],
    open: PackedSlice,
}

impl Serialize for SlicesSoFar<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.closed.iter().chain(std::iter::once(&self.open)))
    }
}

/// Slices with their numbers; those that end at one instant are one.
pub fn by_end(slices: &[Slice]) -> impl Iterator<Item = (u64, &[Slice])> {
    (0..).zip(slices.chunk_by(|first, second| first.end == second.end))
}

/// Rows with those of one node made one, in the order of nodes.
///
/// ```
/// use firstlight_profile::slices::{merged, NodeRow};
/// let row = |node, calls| NodeRow { node, calls, self_instructions: 0 };
/// assert_eq!(merged([row(7, 1), row(2, 1), row(7, 2)]), [row(2, 1), row(7, 3)]);
/// ```
pub fn merged(rows: impl IntoIterator<Item = NodeRow>) -> Vec<NodeRow> {
    let mut rows: Vec<NodeRow> = rows.into_iter().collect();
    rows.sort_by_key(|row| row.node);
    rows.dedup_by(|later, first| {
        let same = later.node == first.node;
        if same {
            first.calls += later.calls;
            first.self_instructions += later.self_instructions;
        }
        same
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_grid_has_every_edge_once() {
        let mut edge = 0;
        let mut steps = Vec::new();
        while edge < 100_000_000_000 {
            let next = edge_after(edge);
            assert_eq!(edge_after(next - 1), next);
            steps.push(next - edge);
            edge = next;
        }
        for (doubling, steps) in steps.chunks(STEPS as usize).enumerate() {
            assert!(steps.iter().all(|step| *step == STEP_NS << doubling));
        }
        assert!(edge_after(u64::MAX) == u64::MAX);
    }

    #[test]
    fn rows_that_are_cut_short_are_not_read() {
        let row = NodeRow { node: 300, calls: 1, self_instructions: u64::MAX };
        let bytes = packed([row].into_iter());
        assert_eq!(unpacked(&bytes), Some(vec![row]));
        for length in 1..bytes.len() {
            assert_eq!(unpacked(&bytes[..length]), None);
        }
        assert_eq!(unpacked(&[0xff; 40]), None);
    }

    proptest! {
        #[test]
        fn packed_rows_are_read_as_they_were(mut rows in prop::collection::vec((any::<u32>(), any::<u64>(), any::<u64>()), 0..60)) {
            rows.sort_unstable();
            let rows: Vec<NodeRow> =
                rows.into_iter().map(|(node, calls, own)| NodeRow { node, calls, self_instructions: own }).collect();
            prop_assert_eq!(unpacked(&packed(rows.iter().copied())), Some(rows));
        }
    }
}
