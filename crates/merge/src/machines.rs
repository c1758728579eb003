//! Whether records are of one machine at all.

use crate::record::Read;
use std::collections::BTreeMap;

/// Facts that identify a machine, the most reliable first.
const FACTS: [&str; 3] = ["system.machine_id", "system.architecture", "system.hostname"];
/// Names that a system has before it gets its own.
const NAMELESS: [&str; 4] = ["localhost", "(none)", "linux", "debian"];

/// Two records of different machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineConflict {
    /// By what fact.
    pub fact: &'static str,
    /// One record, and what it says.
    pub one: (usize, String),
    /// The other, and what it says.
    pub other: (usize, String),
}

/// The first fact of each record that excludes another one: of the boots that `boots` names.
pub fn machine_conflicts(reads: &[Read], boots: &[Option<u32>]) -> Vec<MachineConflict> {
    let mut first: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for (index, read) in reads.iter().enumerate() {
        let Some(boot) = boots.get(index).copied().flatten() else { continue };
        let facts = read.outcome.iter().flatten().filter(|one| one.boot == boot).flat_map(|one| &one.facts);
        let known: Vec<(&'static str, String)> = facts
            .filter_map(|(name, value)| {
                let fact = FACTS.into_iter().find(|fact| *fact == name.as_ref())?;
                Some((fact, canonical(fact, value)?))
            })
            .collect();
        let differs = FACTS.into_iter().find_map(|fact| {
            let (_, ours) = known.iter().find(|(name, _)| *name == fact)?;
            let (read, theirs) = first.get(fact)?;
            (ours != theirs).then(|| (fact, (*read, theirs.clone()), (index, ours.clone())))
        });
        if let Some((fact, one, other)) = differs {
            conflicts.push(MachineConflict { fact, one, other });
            continue;
        }
        for (fact, value) in known {
            first.entry(fact).or_insert((index, value));
        }
    }
    conflicts
}

/// A value in the one form in which records are compared; none: it identifies nothing.
fn canonical(fact: &str, value: &str) -> Option<String> {
    let value = value.trim().to_ascii_lowercase();
    if fact == "system.architecture" {
        return Some(architecture(&value).to_owned());
    }
    // A name may be given with its domain.
    let value = if fact == "system.hostname" { value.split('.').next().unwrap_or_default() } else { &value };
    (!value.is_empty() && !NAMELESS.contains(&value)).then(|| value.replace('-', ""))
}

fn architecture(name: &str) -> &str {
    match name {
        "x86-64" | "x86_64" | "amd64" | "i386" | "i486" | "i586" | "i686" => "x86",
        "aarch64" | "aarch64_be" | "arm64-be" => "arm64",
        _ if name.starts_with("armv8") => "arm64",
        _ if name.starts_with("arm") && name != "arm64" => "arm",
        _ if name.starts_with("mips") => "mips",
        _ if name.starts_with("riscv") => "riscv",
        _ if name.starts_with("ppc") || name.starts_with("powerpc") => "powerpc",
        other => other,
    }
}
