//! Joins files that hold one time each of one clock: the files of a directory are one record.

use firstlight_formats::evidence::{Evidence, Problem};
use firstlight_formats::format::Input;
use firstlight_formats::registry::{by_name, READERS};
use std::collections::BTreeMap;

/// Records made of several files.
#[derive(Debug, Default)]
pub struct Joined {
    /// What all files say together, by the first of them.
    pub whole: BTreeMap<usize, Evidence>,
    /// The first file of the record that a further file is a part of.
    pub part_of: BTreeMap<usize, usize>,
}

impl Joined {
    /// What stands for a file's own evidence.
    pub fn of<'a>(&'a self, number: usize, own: &'a Evidence) -> &'a Evidence {
        self.whole.get(&number).unwrap_or(own)
    }
}

/// Joins what each directory holds of the firmware's and the boot loader's times.
pub fn joined<'a>(kept: &[(usize, &'a Evidence)], file: &dyn Fn(usize) -> &'a str) -> Joined {
    let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (number, (read, evidence)) in kept.iter().enumerate() {
        if evidence.traits.single_values_ns.is_some() {
            let directory = file(*read).rsplit_once('/').map_or("", |(directory, _)| directory);
            groups.entry((directory, evidence.format.name)).or_default().push(number);
        }
    }
    let mut joined = Joined::default();
    for ((_, format), members) in groups {
        let [first, others @ ..] = members.as_slice() else { continue };
        let all = || members.iter().filter_map(|number| kept.get(*number).map(|(_, evidence)| *evidence));
        if others.is_empty() {
            continue;
        }
        let Some(mut whole) = read(format, all()) else { continue };
        whole.boot = all().next().map_or(0, |one| one.boot);
        // What is wrong with each file counts once more only where it is about several of them.
        let own: Vec<&Problem> = all().flat_map(|one| &one.problems).collect();
        whole.problems.retain(|problem| !own.iter().any(|known| known.detail == problem.detail));
        whole.problems.extend(own.into_iter().cloned());
        whole.part = format!("with {} more files of its directory", others.len());
        joined.part_of.extend(others.iter().map(|other| (*other, *first)));
        joined.whole.insert(*first, whole);
    }
    joined
}

/// What the reader of single times makes of all of them together.
fn read<'a>(format: &str, files: impl Iterator<Item = &'a Evidence>) -> Option<Evidence> {
    let mut text = String::new();
    for (unit_ns, mark) in files.flat_map(|one| one.marks.iter().map(|mark| (one.traits.single_values_ns, mark))) {
        let time = mark.time_ns / unit_ns.unwrap_or(1);
        text.push_str(&format!("{}={time}\n", mark.detail));
    }
    let mut bytes: &[u8] = text.as_bytes();
    by_name(format)?.read(Input { name: "", bytes: &mut bytes, nested: &READERS }).ok()?.into_iter().next()
}
