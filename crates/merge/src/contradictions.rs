//! Contradictions between sources: reported, not averaged.

use std::collections::BTreeMap;

/// A manifest names no more contradictions than this.
const MOST: usize = 200;

/// Sources that exclude one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What they disagree on.
    pub what: String,
    /// Source and what it says; the tables follow the first.
    pub statements: Vec<(String, String)>,
}

/// All contradictions as they are shown: each once, those of single units after those of the boot.
pub fn ordered(all: Vec<Contradiction>) -> Vec<Contradiction> {
    let mut all = gathered(all);
    all.sort_by_key(|told| told.what.starts_with("how long unit") || told.what.starts_with("when unit"));
    if all.len() > MOST {
        let more = all.len() - MOST;
        all.truncate(MOST);
        all.push(Contradiction { what: format!("{more} more things"), statements: Vec::new() });
    }
    all
}

/// Merges contradictions in which several records state the same against the same, as copies of one log do.
fn gathered(all: Vec<Contradiction>) -> Vec<Contradiction> {
    let mut gathered: Vec<Contradiction> = Vec::new();
    let mut places: BTreeMap<(String, Option<(String, String)>), usize> = BTreeMap::new();
    for told in all {
        let key = (told.what.clone(), told.statements.first().cloned());
        let Some(known) = places.get(&key).and_then(|place| gathered.get_mut(*place)) else {
            places.insert(key, gathered.len());
            gathered.push(told);
            continue;
        };
        for (source, value) in told.statements.into_iter().skip(1) {
            match known.statements.iter_mut().skip(1).find(|(_, said)| *said == value) {
                Some((sources, _)) => {
                    sources.push_str(" and ");
                    sources.push_str(&source);
                }
                None => known.statements.push((source, value)),
            }
        }
    }
    gathered
}
