//! The calling-context tree of a bundle with split-off parts folded into their functions. It is folded when it is read, so
//! that bundles of every age show the same, and nothing of the evidence is lost.

use crate::ModelError;
use firstlight_profile::folding::{fold, plain_name, whole_name, Context, Folded};
use firstlight_schema::interned::{Interned, TextNumber, Texts, NO_TEXT};
use rustc_hash::FxHashMap;

/// Whether split-off parts of functions (`f.cold`) are folded into them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parts {
    /// They are.
    #[default]
    Folded,
    /// Every part stands apart, by its own name.
    Apart,
}

/// What the columns of a tree that folding needs are called.
pub const COLUMNS: [&str; 4] = ["parent", "function", "module", "kind"];

/// The contexts of the table `calls`; its texts gain the names of the wholes. `function` of a row is then a number of the
/// texts, the whole's for a part.
#[derive(Debug)]
pub struct Tree {
    /// The contexts, each with its parent.
    pub contexts: Vec<Context>,
    /// What the function of each row is called.
    pub functions: Vec<TextNumber>,
}

impl Tree {
    /// Of a table with [`COLUMNS`].
    ///
    /// # Errors
    ///
    /// [`ModelError::Inconsistent`] when a parent does not come before its child.
    pub fn of(table: &mut Interned, parts: Parts) -> Result<Self, ModelError> {
        let wrong = || ModelError::Inconsistent("calls");
        let text = |column: &str, row: usize| table.numbers(column).get(row).copied().unwrap_or(NO_TEXT);
        let names: Vec<[TextNumber; 3]> =
            (0..table.rows()).map(|row| [text("function", row), text("module", row), text("kind", row)]).collect();
        let mut parents = Vec::with_capacity(names.len());
        for row in 0..names.len() {
            let parent = table.integers("parent").get(row).copied().flatten();
            let parent = match parent {
                None if row == 0 => 0,
                parent => parent.and_then(|parent| usize::try_from(parent).ok()).ok_or_else(wrong)?,
            };
            if row > 0 && parent >= row {
                return Err(wrong());
            }
            parents.push(parent);
        }
        let mut wholes = Wholes::default();
        let mut numbers: FxHashMap<[TextNumber; 3], u32> = FxHashMap::default();
        let (mut contexts, mut functions) = (Vec::with_capacity(names.len()), Vec::with_capacity(names.len()));
        for ([function, module, kind], parent) in names.into_iter().zip(parents) {
            let (whole, plain, part) = wholes.of(function, &mut table.texts, parts);
            let next = u32::try_from(numbers.len()).map_err(|_| ModelError::TooLarge("calls"))?;
            let name = *numbers.entry([whole, module, kind]).or_insert(next);
            contexts.push(Context { parent, name, plain, part });
            functions.push(whole);
        }
        Ok(Self { contexts, functions })
    }

    /// The tree, folded; nothing when there is nothing to fold.
    pub fn folded(&self) -> Option<Folded> {
        fold(&self.contexts)
    }
}

/// For each name that of its whole, the plain one, and whether it is a part's; looked at once.
#[derive(Default)]
struct Wholes(FxHashMap<TextNumber, (TextNumber, TextNumber, bool)>);

impl Wholes {
    fn of(&mut self, function: TextNumber, texts: &mut Texts, parts: Parts) -> (TextNumber, TextNumber, bool) {
        if let Some(known) = self.0.get(&function) {
            return *known;
        }
        let name = texts.get(function).unwrap_or_default().to_owned();
        let whole = whole_name(&name).filter(|_| parts == Parts::Folded);
        let number = whole.map_or(function, |whole| texts.number(whole));
        let plain = plain_name(whole.unwrap_or(&name));
        let plain = if plain.is_empty() { number } else { texts.number(plain) };
        self.0.insert(function, (number, plain, whole.is_some()));
        (number, plain, whole.is_some())
    }
}
