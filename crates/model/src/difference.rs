//! The difference of two bundles' calling-context trees.

use crate::folding::{Parts, Tree};
use crate::ModelError;
use firstlight_profile::difference::{difference, stable_name, Context, DifferenceError, Figures, Merged, MergedTrees};
use firstlight_schema::interned::{read, Interned, TextNumber, Texts, NO_TEXT};
use rustc_hash::FxHashMap;
use std::path::Path;

/// What a node is matched by: stable name of the function, module and kind, as numbers of [`TreeDifference::texts`].
pub type ContextKey = (TextNumber, TextNumber, TextNumber);

/// Two trees as one.
#[derive(Debug)]
pub struct TreeDifference {
    /// The nodes in which or below which anything differs, parents first; their parents are numbers in this list.
    pub nodes: Vec<Merged>,
    /// For each of these its number among the nodes of both trees.
    pub numbers: Vec<usize>,
    /// For each node of A and of B, as the bundles number them, its number among the nodes of both trees.
    pub places: [Vec<usize>; 2],
    /// How many nodes both trees have together, those without a difference as well.
    pub all_nodes: usize,
    /// What a node's key stands for.
    pub keys: Vec<ContextKey>,
    /// All names.
    pub texts: Texts,
    /// Whether both bundles count instructions; else those figures mean nothing.
    pub instructions: bool,
}

/// The difference of the trees of two bundles.
///
/// # Errors
///
/// [`ModelError::Inconsistent`] when a table is not a tree, [`ModelError::TooLarge`], and what [`read`] says.
pub fn tree_difference(a: &Path, b: &Path) -> Result<TreeDifference, ModelError> {
    let mut names = Names::default();
    let mut trees = [Vec::new(), Vec::new()];
    let mut instructions = true;
    for (bundle, tree) in [a, b].into_iter().zip(&mut trees) {
        let wanted = ["parent", "function", "module", "kind", "calls", "self_instructions", "self_ns"];
        let mut table = read("calls", &wanted, bundle)?;
        let folded = Tree::of(&mut table, Parts::Folded)?;
        instructions &= table.integers("self_instructions").iter().any(Option::is_some);
        *tree = names.contexts(&table, &folded)?;
    }
    let MergedTrees { nodes, places } = difference(&trees[0], &trees[1]).map_err(|error| match error {
        DifferenceError::Order(_) => ModelError::Inconsistent("calls"),
        DifferenceError::TooLarge => ModelError::TooLarge("calls"),
    })?;
    let all_nodes = nodes.len();
    let (nodes, numbers) = changed(nodes);
    Ok(TreeDifference { nodes, numbers, places, all_nodes, keys: names.keys, texts: names.texts, instructions })
}

/// Leaves out the nodes in which and below which nothing differs; the root always stays. With their former numbers.
fn changed(nodes: Vec<Merged>) -> (Vec<Merged>, Vec<usize>) {
    let mut places = vec![0_usize; nodes.len()];
    let (mut left, mut numbers) = (Vec::new(), Vec::new());
    for (number, node) in nodes.into_iter().enumerate() {
        if node.changed || number == 0 {
            // Above what differs, everything is changed.
            places[number] = left.len();
            left.push(Merged { parent: places[node.parent], ..node });
            numbers.push(number);
        }
    }
    (left, numbers)
}

#[derive(Default)]
struct Names {
    texts: Texts,
    keys: Vec<ContextKey>,
    numbers: FxHashMap<ContextKey, u32>,
}

impl Names {
    fn contexts(&mut self, table: &Interned, tree: &Tree) -> Result<Vec<Context>, ModelError> {
        // Every text of the table once: its number here, and that of its stable name.
        let raw: Vec<TextNumber> = table.texts.iter().map(|text| self.texts.number(text)).collect();
        let stable: Vec<TextNumber> = table.texts.iter().map(|text| self.texts.number(stable_name(text))).collect();
        let of = |numbers: &[TextNumber], number: TextNumber| -> TextNumber {
            usize::try_from(number).ok().and_then(|number| numbers.get(number)).copied().unwrap_or(NO_TEXT)
        };
        let columns = ["calls", "self_instructions", "self_ns"].map(|name| table.integers(name));
        let names = ["module", "kind"].map(|name| table.numbers(name));
        let folded = tree.folded();
        let mut contexts: Vec<Context> = Vec::with_capacity(table.rows());
        // The first node of what each node is folded into: what it did is done there.
        let head = |row: usize| folded.as_ref().and_then(|folded| folded.first(row));
        for (index, (context, function)) in tree.contexts.iter().zip(&tree.functions).enumerate() {
            let figure = |column: usize| columns[column].get(index).copied().flatten().unwrap_or(0);
            let text = |column: usize| names[column].get(index).copied().unwrap_or(NO_TEXT);
            let calls = if context.part { 0 } else { figure(0) };
            let own = Figures { calls, instructions: figure(1), ns: figure(2) };
            if let Some(known) = head(index).filter(|first| *first < index).and_then(|first| contexts.get(first)) {
                contexts.push(Context { own, ..*known });
                continue;
            }
            let key = (of(&stable, *function), of(&raw, text(0)), of(&raw, text(1)));
            let key = match self.numbers.get(&key) {
                Some(number) => *number,
                None => {
                    let number = u32::try_from(self.keys.len()).map_err(|_| ModelError::TooLarge("calls"))?;
                    self.numbers.insert(key, number);
                    self.keys.push(key);
                    number
                }
            };
            let parent = head(context.parent).unwrap_or(context.parent);
            contexts.push(Context { parent, key, label: of(&raw, *function), own });
        }
        Ok(contexts)
    }
}
