//! Whether records are of one machine at all.

use crate::record::Read;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Facts that identify a machine, the most reliable first.
const FACTS: [&str; 5] =
    ["system.machine_id", "system.architecture", "system.hostname", "dmi.product", "device_tree.model"];
/// The maker of a machine; where its name ends and the product's begins is a guess, and both are compared as one.
const VENDOR: &str = "dmi.vendor";
/// Names that a system has before it gets its own.
const NAMELESS: [&str; 5] = ["localhost", "(none)", "linux", "debian", "fedora"];

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
        let facts = || read.outcome.iter().flatten().filter(|one| one.boot == boot).flat_map(|one| &one.facts);
        let vendor = facts().find(|(name, _)| name == VENDOR).map_or("", |(_, value)| value);
        let known: Vec<(&'static str, String)> = facts()
            .filter_map(|(name, value)| {
                let fact = FACTS.into_iter().find(|fact| *fact == name.as_ref())?;
                let value = if fact == "dmi.product" { &format!("{vendor} {value}") } else { value };
                Some((fact, canonical(fact, value)?))
            })
            .collect();
        let differs = FACTS.into_iter().find_map(|fact| {
            let (_, ours) = known.iter().find(|(name, _)| *name == fact)?;
            let (read, theirs) = first.get(fact)?;
            (!alike(fact, ours, theirs)).then(|| (fact, (*read, theirs.clone()), (index, ours.clone())))
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

/// Whether two values are of one machine.
fn alike(fact: &str, one: &str, other: &str) -> bool {
    one == other || matches!(fact, "dmi.product" | "device_tree.model") && is_same_model(one, other)
}

/// Whether two names are of one model: a record may cut the name, or lack its maker. In any case of letters.
///
/// ```
/// use firstlight_merge::machines::is_same_model;
/// assert!(is_same_model("Dell Inc. PowerEdge R740", "poweredge r740"));
/// assert!(!is_same_model("Raspberry Pi 3", "Raspberry Pi 4"));
/// ```
pub fn is_same_model(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    one.contains(&other) || other.contains(&one)
}

/// A value in the one form in which records are compared; none: it identifies nothing.
fn canonical(fact: &str, value: &str) -> Option<String> {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    match fact {
        "system.architecture" => Some(architecture_family(&value).to_owned()),
        "dmi.product" | "device_tree.model" => Some(value).filter(|value| !value.is_empty()),
        // A log collector may write a machine's address instead of its name.
        "system.hostname" if value.parse::<IpAddr>().is_ok() => None,
        _ => {
            // A name may be given with its domain.
            let name = if fact == "system.hostname" { value.split('.').next().unwrap_or_default() } else { &value };
            (!name.is_empty() && !NAMELESS.contains(&name)).then(|| name.replace('-', ""))
        }
    }
}

/// The family of an architecture, as records of one boot may name it in several ways: `uname`, the kernel's banner, the name of a
/// processor. In lower case.
///
/// ```
/// use firstlight_merge::machines::architecture_family;
/// assert_eq!(["amd64", "armv7l", "ppc64le", "s390x"].map(architecture_family), ["x86", "arm", "powerpc", "s390x"]);
/// ```
pub fn architecture_family(name: &str) -> &str {
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
