//! The names of what the kernel's own symbols do not cover.

use firstlight_profile::fold::regroup;
use firstlight_profile::folding::whole_name;
use firstlight_profile::recording::{Function, Recording};
use firstlight_profile::tree::Kind;
use firstlight_schema::CallRow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The functions of kernel modules as they are known when the boot is over, for code that had no name while it ran; and
/// names that several functions of the kernel share.
pub struct ModuleSymbols(BTreeMap<u64, (String, String)>, HashSet<String>);

impl ModuleSymbols {
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            matches!(words.next()?, "T" | "t" | "W" | "w").then_some(())?;
            let (name, module) = (words.next()?, words.next()?);
            Some((address, (name.to_owned(), module.trim_matches(['[', ']']).to_owned())))
        };
        Self(text.lines().filter_map(line).collect(), HashSet::new())
    }

    /// Looks for names that different functions of the recording share: static functions of different files.
    pub fn find_shared(&mut self, recording: &Recording) {
        let mut addresses: HashMap<&str, u64> = HashMap::new();
        for function in recording.functions.iter().filter(|function| is_of_image(function)) {
            if *addresses.entry(&function.name).or_insert(function.address) != function.address {
                self.1.insert(function.name.clone());
            }
        }
    }

    /// A module's initialiser is freed when it has run, and another module's function may stand in its place by the time
    /// the symbols are read: that is not its name.
    pub fn forget_initcalls(&mut self, recording: &Recording) {
        for span in recording.spans.iter().filter(|span| span.level == "module") {
            if let Some(function) = recording.functions.get(span.function as usize) {
                self.0.remove(&function.address);
            }
        }
    }

    /// Name, module and kind of a function that the recording knows by its address.
    fn name(&self, address: u64) -> (String, Option<String>, Option<Kind>) {
        match self.0.get(&address) {
            Some((name, module)) => (name.clone(), Some(module.clone()), None),
            None => (CallRow::KernelWithoutSymbol.name().to_owned(), None, Some(Kind::Unknown)),
        }
    }
}

/// Makes one function of all those that have an address but no name, so that they share a row under each caller.
pub fn gather_nameless(recording: &mut Recording, modules: &ModuleSymbols) {
    let Some(row) =
        recording.functions.iter().position(|function| function.name == CallRow::KernelWithoutSymbol.name())
    else {
        return;
    };
    let functions = &recording.functions;
    let nameless: Vec<bool> = functions
        .iter()
        .map(|function| function.name.is_empty() && !modules.0.contains_key(&function.address))
        .collect();
    regroup(recording, |node| {
        let is_nameless = nameless.get(node.function as usize) == Some(&true);
        Some(if is_nameless { (row as u32, Kind::Unknown) } else { (node.function, node.kind) })
    });
}

// Split-off parts belong to their functions; rows that are not functions stand at no address.
fn is_of_image(function: &Function) -> bool {
    function.address != 0 && !function.name.contains('\t') && whole_name(&function.name).is_none()
}

/// Name, module and, where it is not a function, kind of a function of the recording.
pub fn name(recording: &Recording, modules: &ModuleSymbols, function: u32) -> (String, Option<String>, Option<Kind>) {
    match recording.functions.get(function as usize) {
        Some(function) if function.name.is_empty() => modules.name(function.address),
        // What was named while the boot ran has the form of `/proc/kallsyms`.
        Some(function) if function.name.contains('\t') => {
            let (name, module) = function.name.split_once('\t').unwrap_or_default();
            (name.to_owned(), Some(module.trim_matches(['[', ']']).to_owned()), None)
        }
        // Its place distinguishes it from others of its name.
        Some(function) if is_of_image(function) && modules.1.contains(&function.name) => {
            (format!("{}@{:x}", function.name, function.address), None, None)
        }
        Some(function) => (function.name.clone(), None, None),
        None => (String::new(), None, None),
    }
}
