//! Whether two records are of one boot at all.

use crate::record::Read;
use std::collections::BTreeMap;

/// Facts that identify a boot, the most reliable first.
const FACTS: [&str; 4] = ["boot.id", "kernel.version", "kernel.release", "kernel.command_line"];

type Identity = BTreeMap<&'static str, String>;

/// A record that says of itself that it is of another boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// Which record.
    pub read: usize,
    /// The record that it does not go with.
    pub against: usize,
    /// By what fact.
    pub fact: &'static str,
    /// What the record that stays says.
    pub theirs: String,
    /// What this one says.
    pub ours: String,
}

/// The records that cannot be of the same boot as the others: of two that exclude one another the one stays that goes
/// with more of the rest, else the first.
pub fn unrelated(reads: &[Read], boots: &[Option<u32>]) -> Vec<Stranger> {
    let identities: Vec<Identity> = reads
        .iter()
        .enumerate()
        .map(|(index, read)| boots.get(index).copied().flatten().map(|boot| identity(read, boot)).unwrap_or_default())
        .collect();
    let against = |one: &Identity| identities.iter().filter(|other| differing(one, other).is_some()).count();
    let Some((stays, reference)) = identities
        .iter()
        .enumerate()
        .filter(|(_, identity)| !identity.is_empty())
        .min_by_key(|(index, identity)| (against(identity), *index))
    else {
        return Vec::new();
    };
    let stranger = |(index, identity): (usize, &Identity)| {
        let fact = differing(reference, identity)?;
        let value = |of: &Identity| of.get(fact).cloned().unwrap_or_default();
        Some(Stranger { read: index, against: stays, fact, theirs: value(reference), ours: value(identity) })
    };
    identities.iter().enumerate().filter_map(stranger).collect()
}

fn identity(read: &Read, boot: u32) -> Identity {
    let mut identity = Identity::new();
    for evidence in read.outcome.iter().flatten().filter(|evidence| evidence.boot == boot) {
        for (fact, value) in &evidence.facts {
            let fact = if fact == "kernel.boot_id" { "boot.id" } else { fact.as_ref() };
            if let Some(known) = FACTS.iter().find(|known| **known == fact) {
                identity.entry(known).or_insert_with(|| value.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
    identity
}

fn plain(id: &str) -> String {
    id.replace('-', "").to_ascii_lowercase()
}

/// The number that the kernel gave the boot of a record, where the record has it.
pub fn boot_id(read: &Read, boot: u32) -> Option<String> {
    identity(read, boot).get("boot.id").map(|id| plain(id))
}

fn differing(one: &Identity, other: &Identity) -> Option<&'static str> {
    FACTS.into_iter().find(|fact| match (one.get(fact), other.get(fact)) {
        (Some(one), Some(other)) => !alike(fact, one, other),
        _ => false,
    })
}

fn alike(fact: &str, one: &str, other: &str) -> bool {
    if fact == "boot.id" {
        return plain(one) == plain(other);
    }
    // One may be cut off, or lack what the kernel has built in.
    one.contains(other) || other.contains(one)
}
