//! Selects the records of the boot that is merged.

use crate::boot_id::{boot_id, unrelated};
use crate::machines::{machine_conflicts, MachineConflict};
use crate::record::Read;
use crate::Contradiction;
use firstlight_formats::evidence::Evidence;
use std::collections::BTreeMap;

/// The evidence of one boot, by the number of its record.
#[derive(Debug)]
pub struct RecordChoice<'a> {
    reads: &'a [Read],
    boots: &'a [Option<u32>],
    /// What goes into the tables.
    pub kept: Vec<(usize, &'a Evidence)>,
    /// What says of itself that it is another boot's, and why it is left out.
    pub left_out: Vec<(usize, &'a Evidence, String)>,
    /// What those records contradict.
    pub contradictions: Vec<Contradiction>,
}

impl<'a> RecordChoice<'a> {
    /// Selects in each record the boot that `boots` names, and leaves out unrelated records unless they are to be `mixed`.
    pub fn of(reads: &'a [Read], boots: &'a [Option<u32>], mixed: bool) -> Self {
        let mut choice = Self { reads, boots, kept: Vec::new(), left_out: Vec::new(), contradictions: Vec::new() };
        let mut strange: BTreeMap<usize, String> = BTreeMap::new();
        for stranger in unrelated(reads, boots) {
            let (against, fact) = (choice.file(stranger.against), stranger.fact);
            if !mixed {
                strange.insert(stranger.read, format!("another boot's: its `{fact}` is not that of {against}"));
            }
            choice.contradictions.push(Contradiction {
                what: format!("which boot this is, by `{fact}`"),
                statements: vec![
                    (against.to_owned(), stranger.theirs),
                    (choice.file(stranger.read).to_owned(), stranger.ours),
                ],
            });
        }
        for MachineConflict { fact, one, other } in machine_conflicts(reads, boots) {
            let statement = |(read, value): (usize, String)| (choice.file(read).to_owned(), value);
            let statements = vec![statement(one), statement(other)];
            choice
                .contradictions
                .push(Contradiction { what: format!("which machine this is, by `{fact}`"), statements });
        }
        for (index, read) in reads.iter().enumerate() {
            let boot = boots.get(index).copied().flatten();
            for one in read.outcome.iter().flatten().filter(|one| Some(one.boot) == boot) {
                match strange.get(&index) {
                    Some(why) => choice.left_out.push((index, one, why.clone())),
                    None => choice.kept.push((index, one)),
                }
            }
        }
        choice
    }

    /// The file of a record.
    pub fn file(&self, read: usize) -> &'a str {
        self.reads.get(read).map_or("", |read| read.file.as_str())
    }

    /// The numbers that the kernel gave the boot, by what is kept.
    pub fn boot_ids(&self) -> Vec<Option<String>> {
        let id = |read: usize| boot_id(self.reads.get(read)?, self.boots.get(read).copied().flatten()?);
        self.kept.iter().map(|(read, _)| id(*read)).collect()
    }
}
