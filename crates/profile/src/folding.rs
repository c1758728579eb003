//! Split-off parts of functions (`f.cold`) as the compiler made them, folded into the functions that they are parts of.
//!
//! A function jumps into such a part, and the part jumps back: no call, though a tree of contexts has a node for it. In a
//! folded tree what the part did is done by its function, and what it called is called from there. The sums stay what they
//! are, and entries of a part are not calls.

use rustc_hash::FxHashMap;

/// The name of the function that a split-off part belongs to; nothing where the name is not a part's.
///
/// GCC and Clang append `.cold`, older GCC `.cold.` and a number.
///
/// ```
/// use firstlight_profile::folding::whole_name;
/// assert_eq!(whole_name("hpet_alloc.cold"), Some("hpet_alloc"));
/// assert_eq!(whole_name("f.constprop.0.cold.12"), Some("f.constprop.0"));
/// assert_eq!(whole_name("f.constprop.0"), None);
/// assert_eq!(whole_name(".cold"), None);
/// ```
pub fn whole_name(function: &str) -> Option<&str> {
    let numbered = function.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let unnumbered = numbered.strip_suffix('.').filter(|_| numbered.len() < function.len()).unwrap_or(function);
    unnumbered.strip_suffix(".cold").filter(|whole| !whole.is_empty() && !whole.starts_with('['))
}

/// The name of a function without what distinguishes different functions of one name: `@` and a hexadecimal number.
///
/// ```
/// use firstlight_profile::folding::plain_name;
/// assert_eq!(plain_name("type_show@ffffffff81234560"), "type_show");
/// assert_eq!(plain_name("user@host"), "user@host");
/// ```
pub fn plain_name(function: &str) -> &str {
    match function.rsplit_once('@') {
        Some((name, place)) if !name.is_empty() && !place.is_empty() && place.bytes().all(is_digit) => name,
        _ => function,
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')
}

/// One node of a tree, as folding needs it. Names are numbers, alike for all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// Number of its parent, smaller than its own; the root's is its own.
    pub parent: usize,
    /// The function it belongs to: for a part that of its whole. Contexts of one name under one parent are one.
    pub name: u32,
    /// The plain name of that function.
    pub plain: u32,
    /// Whether it is a split-off part.
    pub part: bool,
}

/// Where the nodes of a tree stand when it is folded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    /// For every node the number that it has in the folded tree.
    pub places: Vec<usize>,
    /// For every node of the folded tree the number of its parent, and the first node that it is made of.
    pub nodes: Vec<(usize, usize)>,
}

impl Folded {
    /// The first node of what a node is folded into.
    pub fn first(&self, node: usize) -> Option<usize> {
        self.places.get(node).and_then(|place| self.nodes.get(*place)).map(|(_, first)| *first)
    }

    /// Whether a node is the head of what its folded node is made of, and no part within it: its total counts there.
    pub fn is_outermost(&self, contexts: &[Context], node: usize) -> bool {
        let above = contexts.get(node).and_then(|context| self.places.get(context.parent));
        node == 0 || self.places.get(node) != above
    }
}

/// Folds a tree; nothing when it has no split-off parts: then it stays as it is.
///
/// ```
/// use firstlight_profile::folding::{fold, Context};
/// let context = |parent, name, part| Context { parent, name, plain: name, part };
/// // f calls g; its part f.cold calls g as well.
/// let tree = [context(0, 0, false), context(0, 1, false), context(1, 2, false), context(1, 1, true), context(3, 2, false)];
/// let folded = fold(&tree).expect("it has a part");
/// assert_eq!(folded.places, [0, 1, 2, 1, 2]);
/// assert_eq!(folded.nodes, [(0, 0), (0, 1), (1, 2)]);
/// ```
pub fn fold(contexts: &[Context]) -> Option<Folded> {
    if !contexts.iter().any(|context| context.part) {
        return None;
    }
    let mut folded = Folded { places: Vec::with_capacity(contexts.len()), nodes: Vec::new() };
    let mut known: FxHashMap<(usize, u32), usize> = FxHashMap::default();
    for (index, context) in contexts.iter().enumerate() {
        let above = folded.places.get(context.parent).copied().unwrap_or(0);
        let whole = |place: usize| folded.nodes.get(place).and_then(|(_, first)| contexts.get(*first));
        let place = if index == 0 {
            0
        } else if context.part && whole(above).is_some_and(|whole| whole.plain == context.plain) {
            above
        } else {
            *known.entry((above, context.name)).or_insert(folded.nodes.len())
        };
        if place == folded.nodes.len() {
            folded.nodes.push((above, index));
        }
        folded.places.push(place);
    }
    Some(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(parent: usize, name: u32, part: bool) -> Context {
        Context { parent, name, plain: name, part }
    }

    #[test]
    fn a_part_that_is_entered_from_elsewhere_is_its_function_there() {
        // Under the root f.cold alone; then f itself under the root.
        let tree = [context(0, 0, false), context(0, 1, true), context(0, 1, false)];
        assert_eq!(fold(&tree).map(|folded| folded.places), Some(vec![0, 1, 1]));
    }

    #[test]
    fn a_part_finds_its_function_among_several_of_one_name() {
        // f at one address has number 1, at another 2; both are plainly called 1.
        let tree = [
            context(0, 0, false),
            Context { parent: 0, name: 1, plain: 1, part: false },
            Context { parent: 0, name: 2, plain: 1, part: false },
            Context { parent: 2, name: 1, plain: 1, part: true },
        ];
        assert_eq!(fold(&tree).map(|folded| folded.places), Some(vec![0, 1, 2, 2]));
    }

    #[test]
    fn a_tree_without_parts_stays_as_it_is() {
        assert_eq!(fold(&[context(0, 0, false), context(0, 1, false), context(0, 1, false)]), None);
        assert_eq!(fold(&[]), None);
    }

    #[test]
    fn only_the_head_of_a_folded_node_has_a_total() {
        let tree = [context(0, 0, false), context(0, 1, false), context(1, 1, true), context(2, 1, true)];
        let folded = fold(&tree).unwrap_or_default();
        let heads: Vec<bool> = (0..4).map(|node| folded.is_outermost(&tree, node)).collect();
        assert_eq!(heads, [true, true, false, false]);
    }
}
