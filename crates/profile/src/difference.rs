//! The exact difference of two calling-context trees: one tree that holds the nodes of both.
//!
//! Nodes are matched by their path of keys from the root, so that every node is in A, in B or in both. What a node did
//! itself adds up: the change of a node with all below it is its own change and those of its callees, and the change of
//! the root is the change of the whole, in integers.

use crate::folding::plain_name;
use rustc_hash::FxHashMap;

/// One node of a tree, as the difference needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    /// Number of its parent, smaller than its own; the root's is its own.
    pub parent: usize,
    /// What it is matched by, numbered for both trees alike.
    pub key: u32,
    /// What it is called in its own tree, numbered for both trees alike.
    pub label: u32,
    /// Figures of its own.
    pub own: Figures,
}

/// What a node did itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Entries.
    pub calls: i64,
    /// Instructions.
    pub instructions: i64,
    /// Nanoseconds.
    pub ns: i64,
}

impl Figures {
    fn add(&mut self, other: Self) {
        // No sum leaves the range: that was checked for the sum of all.
        self.calls = self.calls.wrapping_add(other.calls);
        self.instructions = self.instructions.wrapping_add(other.instructions);
        self.ns = self.ns.wrapping_add(other.ns);
    }
}

/// One node of the merged tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// Number of its parent, smaller than its own; the root's is its own.
    pub parent: usize,
    /// What it was matched by.
    pub key: u32,
    /// What all its nodes are called; nothing when they are called differently.
    pub label: Option<u32>,
    /// Its own figures in A and in B; nothing where it is not there.
    pub own: [Option<Figures>; 2],
    /// The figures in A and in B of it and all below it.
    pub total: [Figures; 2],
    /// The sizes of all own changes of it and of all below it, in nanoseconds: its width in a picture of changes.
    pub gross_ns: i64,
    /// Whether anything differs in it or below it.
    pub changed: bool,
}

/// Why two trees have no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DifferenceError {
    /// A node's parent does not come before it.
    #[error("node {0} comes before its parent")]
    Order(usize),
    /// The figures are so large that their sum is none of 64 bits.
    #[error("the figures are too large to add up")]
    TooLarge,
}

/// Two trees as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergedTrees {
    /// Parents come before their children; the root is the first node.
    pub nodes: Vec<Merged>,
    /// For each node of A and of B its number in `nodes`.
    pub places: [Vec<usize>; 2],
}

/// Merges two trees.
///
/// ```
/// use firstlight_profile::difference::{difference, Context, Figures};
/// let node = |parent, key, ns| Context { parent, key, label: key, own: Figures { calls: 1, instructions: ns, ns } };
/// // In B, function 2 is called from function 3 and no longer from 1.
/// let a = [node(0, 0, 5), node(0, 1, 10), node(1, 2, 100)];
/// let b = [node(0, 0, 5), node(0, 1, 10), node(0, 3, 1), node(2, 2, 90)];
/// let trees = difference(&a, &b)?;
/// assert_eq!(trees.places, [vec![0, 1, 2], vec![0, 1, 3, 4]]);
/// let merged = trees.nodes;
/// assert_eq!(merged.len(), 5);
/// assert_eq!(merged[0].total[1].ns - merged[0].total[0].ns, -9);
/// assert_eq!(merged[0].gross_ns, 100 + 1 + 90);
/// assert_eq!(merged[2].own, [Some(a[2].own), None]);
/// # Ok::<(), firstlight_profile::difference::DifferenceError>(())
/// ```
///
/// # Errors
///
/// [`DifferenceError::Order`] when a tree is none, [`DifferenceError::TooLarge`] when a sum would leave its range.
pub fn difference(a: &[Context], b: &[Context]) -> Result<MergedTrees, DifferenceError> {
    let mut sizes = Sizes::default();
    let mut merged: Vec<Merged> = Vec::with_capacity(a.len().max(b.len()));
    let mut places: FxHashMap<(usize, u32), usize> = FxHashMap::default();
    let mut standing: [Vec<usize>; 2] = Default::default();
    for (side, tree) in [a, b].into_iter().enumerate() {
        standing[side] = merge(tree, side, &mut merged, &mut places)?;
        tree.iter().for_each(|node| sizes.add(node.own));
    }
    if !sizes.fit() {
        return Err(DifferenceError::TooLarge);
    }
    for node in &mut merged {
        let own = node.own.map(Option::unwrap_or_default);
        node.total = own;
        node.gross_ns = own[1].ns.wrapping_sub(own[0].ns).wrapping_abs();
        node.changed = node.own[0] != node.own[1];
    }
    for index in (1..merged.len()).rev() {
        let Merged { parent, total, gross_ns, changed, .. } = merged[index];
        let parent = &mut merged[parent];
        parent.total[0].add(total[0]);
        parent.total[1].add(total[1]);
        parent.gross_ns = parent.gross_ns.wrapping_add(gross_ns);
        parent.changed |= changed;
    }
    Ok(MergedTrees { nodes: merged, places: standing })
}

fn merge(
    tree: &[Context],
    side: usize,
    merged: &mut Vec<Merged>,
    places: &mut FxHashMap<(usize, u32), usize>,
) -> Result<Vec<usize>, DifferenceError> {
    // Where each node of this tree stands in the merged one.
    let mut standing: Vec<usize> = Vec::with_capacity(tree.len());
    for (index, node) in tree.iter().enumerate() {
        let parent = if index == 0 { 0 } else { *standing.get(node.parent).ok_or(DifferenceError::Order(index))? };
        // The two roots are one, whatever they are called.
        let place = if index == 0 { 0 } else { *places.entry((parent, node.key)).or_insert(merged.len()) };
        standing.push(place);
        if place == merged.len() {
            merged.push(Merged {
                parent,
                key: node.key,
                label: Some(node.label),
                own: [None; 2],
                total: [Figures::default(); 2],
                gross_ns: 0,
                changed: false,
            });
        }
        let known = &mut merged[place];
        known.label = known.label.filter(|label| *label == node.label);
        known.own[side].get_or_insert_default().add(node.own);
    }
    Ok(standing)
}

/// The sizes of all figures added up: what bounds every sum of them.
#[derive(Default)]
struct Sizes([i128; 3]);

impl Sizes {
    fn add(&mut self, figures: Figures) {
        for (size, figure) in self.0.iter_mut().zip([figures.calls, figures.instructions, figures.ns]) {
            *size += i128::from(figure).abs();
        }
    }

    fn fit(&self) -> bool {
        self.0.iter().all(|size| *size <= i128::from(i64::MAX))
    }
}

/// The name of a function without what a compiler appended to it, as `firstlight.compare.common.stable_names` has it.
///
/// ```
/// use firstlight_profile::difference::stable_name;
/// assert_eq!(stable_name("f.isra.0.cold"), "f");
/// assert_eq!(stable_name("f.llvm.1234567"), "f");
/// assert_eq!(stable_name("type_show@ffffffff81234560"), "type_show");
/// assert_eq!(stable_name("virtio.ko"), "virtio.ko");
/// assert_eq!(stable_name("[user a.0]"), "[user a.0]");
/// assert_eq!(stable_name(".cold"), ".cold");
/// ```
pub fn stable_name(function: &str) -> &str {
    if function.starts_with('[') {
        return function;
    }
    let mut name = plain_name(function);
    while let Some((before, last)) = name.rsplit_once('.') {
        let number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        if !number && !SUFFIXES.contains(&last) {
            break;
        }
        name = before;
    }
    if name.is_empty() {
        function
    } else {
        name
    }
}

const SUFFIXES: [&str; 14] = [
    "isra",
    "constprop",
    "part",
    "cold",
    "llvm",
    "lto_priv",
    "specialized",
    "localalias",
    "clone",
    "exit",
    "split",
    "warm",
    "unlikely",
    "hot",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree() -> impl Strategy<Value = Vec<Context>> {
        let node = (any::<prop::sample::Index>(), 0_u32..4, 0_i64..100, 0_i64..1_000, -5_i64..1_000);
        prop::collection::vec(node, 1..60).prop_map(|nodes| {
            let context = |(index, (parent, key, calls, instructions, ns)): (usize, _)| {
                let parent: prop::sample::Index = parent;
                let parent = if index == 0 { 0 } else { parent.index(index) };
                Context { parent, key, label: key, own: Figures { calls, instructions, ns } }
            };
            nodes.into_iter().enumerate().map(context).collect()
        })
    }

    fn whole(tree: &[Context]) -> Figures {
        let mut sum = Figures::default();
        tree.iter().for_each(|node| sum.add(node.own));
        sum
    }

    proptest! {
        #[test]
        fn the_root_holds_the_whole_of_both_trees(a in tree(), b in tree()) {
            let merged = difference(&a, &b)?.nodes;
            prop_assert_eq!(merged[0].total, [whole(&a), whole(&b)]);
        }

        #[test]
        fn every_node_is_its_own_change_and_those_of_its_callees(a in tree(), b in tree()) {
            let merged = difference(&a, &b)?.nodes;
            for (index, node) in merged.iter().enumerate() {
                for side in 0..2 {
                    let mut sum = node.own[side].unwrap_or_default();
                    let callees = merged.iter().enumerate().skip(1).filter(|(number, other)| *number > index && other.parent == index);
                    callees.for_each(|(_, callee)| sum.add(callee.total[side]));
                    prop_assert_eq!(sum, node.total[side]);
                }
            }
        }

        #[test]
        fn every_node_has_its_place(a in tree(), b in tree()) {
            let merged = difference(&a, &b)?;
            for (side, tree) in [&a, &b].into_iter().enumerate() {
                prop_assert_eq!(merged.places[side].len(), tree.len());
                let mut own = vec![None::<Figures>; merged.nodes.len()];
                for (node, place) in tree.iter().zip(&merged.places[side]) {
                    own[*place].get_or_insert_default().add(node.own);
                }
                prop_assert!(merged.nodes.iter().map(|node| node.own[side]).eq(own));
            }
        }

        #[test]
        fn a_tree_does_not_differ_from_itself(a in tree()) {
            let merged = difference(&a, &a)?.nodes;
            prop_assert!(merged.iter().all(|node| !node.changed && node.gross_ns == 0 && node.own[0] == node.own[1]));
        }

        #[test]
        fn the_other_way_round_every_sign_turns(a in tree(), b in tree()) {
            let (one, other) = (difference(&a, &b)?.nodes, difference(&b, &a)?.nodes);
            prop_assert_eq!(one.len(), other.len());
            prop_assert_eq!(one[0].gross_ns, other[0].gross_ns);
            prop_assert_eq!([one[0].total[0], one[0].total[1]], [other[0].total[1], other[0].total[0]]);
        }

        #[test]
        fn any_name_has_a_stable_one_that_stays_as_it_is(name in "\\PC*") {
            prop_assert_eq!(stable_name(stable_name(&name)), stable_name(&name));
        }
    }

    #[test]
    fn clones_that_are_called_differently_meet_under_no_label() -> Result<(), DifferenceError> {
        let node =
            |parent, key, label| Context { parent, key, label, own: Figures { calls: 1, instructions: 2, ns: 2 } };
        let merged = difference(&[node(0, 0, 0), node(0, 1, 7), node(0, 1, 8)], &[node(0, 0, 0), node(0, 1, 7)])?.nodes;
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[1].label, None);
        assert_eq!(merged[1].own[0].map(|own| own.calls), Some(2));
        Ok(())
    }

    #[test]
    fn figures_that_cannot_be_added_up_are_an_error() {
        let node = |ns| Context { own: Figures { ns, ..Figures::default() }, ..Context::default() };
        assert_eq!(difference(&[node(i64::MAX)], &[node(i64::MIN)]), Err(DifferenceError::TooLarge));
        assert_eq!(difference(&[node(i64::MAX)], &[node(1)]), Err(DifferenceError::TooLarge));
    }

    #[test]
    fn a_tree_whose_parents_come_late_is_an_error() {
        let late = Context { parent: 5, ..Context::default() };
        assert_eq!(difference(&[late, late], &[late]), Err(DifferenceError::Order(1)));
    }

    #[test]
    fn a_boot_without_a_tree_has_all_of_the_other_as_new() -> Result<(), DifferenceError> {
        let node = Context { own: Figures { calls: 1, instructions: 3, ns: 4 }, ..Context::default() };
        let merged = difference(&[], &[node])?.nodes;
        assert_eq!(merged[0].own, [None, Some(node.own)]);
        assert!(difference(&[], &[])?.nodes.is_empty());
        Ok(())
    }
}
