//! What becomes of each record: where its clock lies, and whether it goes into the tables.

use crate::align::Place;
use crate::doubt::Doubt;
use crate::fit::{Fitted, Line};
use crate::joined_files::Joined;
use crate::journal_texts::Received;
use crate::membership::Membership;
use crate::record_selection::RecordChoice;
use crate::summary::{SourceFit, SourceSummary};
use crate::{capture_clock, AlignedRecord, Contradiction, Doubted};
use firstlight_formats::counts::counted;
use firstlight_formats::evidence::{Clock, Evidence, ProblemKind};
use std::collections::BTreeMap;

/// The pieces of a boot, and what is to be said of every record.
#[derive(Debug, Default)]
pub struct Sources<'a> {
    /// What goes into the tables; the piece whose clock is the boot's speaks first.
    pub pieces: Vec<AlignedRecord<'a>>,
    /// Every piece of evidence.
    pub summaries: Vec<SourceSummary>,
    /// Where they exclude one another.
    pub contradictions: Vec<Contradiction>,
    /// What a person should know at once.
    pub warnings: Vec<String>,
    /// Why not all of the evidence is there.
    pub missing: Vec<String>,
    /// Records that are not in the tables.
    pub left_out: u64,
    /// Lines of texts that another form of their journal has.
    pub copies: u64,
}

impl<'a> Sources<'a> {
    /// Places what was chosen; `together` has the records that are made of several files, `received` those of which another
    /// form is among the others.
    pub fn of(choice: &'a RecordChoice<'a>, together: &'a Joined, received: &'a BTreeMap<usize, Received>) -> Self {
        let of = |number: usize, own: &'a Evidence| {
            received.get(&number).map_or_else(|| together.of(number, own), |received| &received.rest)
        };
        let evidence: Vec<&Evidence> =
            choice.kept.iter().enumerate().map(|(number, (_, own))| of(number, own)).collect();
        let reads: Vec<usize> = choice.kept.iter().map(|(read, _)| *read).collect();
        let Membership { base: first, places } = Membership::of(&evidence, &reads, &choice.boot_ids());
        let speaker = first.and_then(|first| choice.kept.get(first)).map_or("", |(read, _)| choice.file(*read));
        let mut sources = Self { contradictions: choice.contradictions.clone(), ..Self::default() };
        let mut order: Vec<usize> = (0..choice.kept.len()).collect();
        order.sort_by_key(|number| (Some(*number) != first, *number));
        let mut hosts = Vec::new();
        for number in order.into_iter().filter(|number| !together.part_of.contains_key(number)) {
            let (Some((read, own)), Some(place)) = (choice.kept.get(number), places.get(number)) else { continue };
            let (file, evidence) = (choice.file(*read), of(number, own));
            let other_form = received.get(&number);
            // Both forms of a journal are of one boot.
            let form = other_form.and_then(|form| places.get(form.sent)).filter(|form| form.is_foreign());
            match form.unwrap_or(place) {
                Place::Foreign(why) => sources.leave_out(file, evidence, speaker, why),
                place => {
                    hosts.extend(sources.take(file, evidence, place));
                    if let Some(form) = other_form {
                        let journal = choice.kept.get(form.sent).map_or("", |(read, _)| choice.file(*read));
                        sources.also_sent(form.lines, journal);
                    }
                }
            }
        }
        sources.summaries.extend(hosts);
        // A file that is part of a record has the place of the record.
        for (number, whole) in &together.part_of {
            let Some((read, evidence)) = choice.kept.get(*number) else { continue };
            let fit = places.get(*whole).and_then(fit);
            sources.summaries.push(SourceSummary { fit, ..SourceSummary::of(choice.file(*read), evidence) });
        }
        for (read, evidence, why) in &choice.left_out {
            let mut source = SourceSummary::of(choice.file(*read), evidence);
            let reason = format!("left out of the tables: {why}");
            sources.without(choice.file(*read), &reason);
            source.problem(ProblemKind::Contradiction, reason.clone());
            sources.summaries.push(source);
            let warning = format!("{}: {reason}", choice.file(*read));
            if !sources.warnings.contains(&warning) {
                sources.warnings.push(warning);
            }
        }
        sources
    }

    /// The tables lack what a record holds, whoever's boot it is of.
    fn without(&mut self, file: &str, reason: &str) {
        self.left_out = self.left_out.saturating_add(1);
        let missing = format!("{file}: {reason}");
        // A record may have several parts.
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// A record whose shared events show that it is another boot's.
    fn leave_out(&mut self, file: &str, evidence: &Evidence, speaker: &str, why: &str) {
        let reason = format!("left out, it seems to be another boot's: {why}");
        self.contradictions.push(Contradiction {
            what: "which boot this is, by shared events".to_owned(),
            statements: vec![(speaker.to_owned(), "this one".to_owned()), (file.to_owned(), why.to_owned())],
        });
        self.warnings.push(format!("{file}: {reason}"));
        self.without(file, &reason);
        let mut source = SourceSummary::of(file, evidence);
        source.problem(ProblemKind::Contradiction, reason);
        self.summaries.push(source);
    }

    /// Says that instants and lengths by a clock of a record are doubtful, and why.
    fn distrust(&mut self, source: &mut SourceSummary, clock: &str, doubt: Doubt) {
        let reason = format!("{clock} cannot be right ({doubt}): what it alone times is doubtful");
        self.warnings.push(format!("{}: {reason}", source.file));
        self.missing.push(format!("{}: {reason}", source.file));
        source.problem(ProblemKind::ImpossibleClock, reason);
    }

    /// Of the record that was taken last, so many lines stand in the tables as another form of its journal has them.
    fn also_sent(&mut self, lines: u64, journal: &str) {
        self.copies = self.copies.saturating_add(lines);
        if let Some(fit) = self.summaries.last_mut().and_then(|source| source.fit.as_mut()) {
            let text = "; # line[|s] [is that|are those] of ";
            fit.how.push_str(&counted(lines, text));
            fit.how.push_str(&format!("{journal}, which has when {} sent", counted(lines, "[it was|they were]")));
        }
    }

    /// Adds a record of this boot; returns the summary of its capturing machine's clock.
    fn take(&mut self, file: &'a str, evidence: &'a Evidence, place: &Place) -> Option<SourceSummary> {
        let mut source = SourceSummary { fit: fit(place), ..SourceSummary::of(file, evidence) };
        if let Place::Unaligned(why) = place {
            let reason = format!(
                "its clock could not be put onto the boot's ({why}): its lengths count, its instants are not shown"
            );
            self.warnings.push(format!("{file}: {reason}"));
            self.missing.push(format!("{file}: {reason}"));
            source.problem(ProblemKind::Unaligned, reason);
        }
        if let Some(doubt) = place.doubt() {
            self.distrust(&mut source, "its clock", doubt);
        }
        let line = place.line();
        let mut captured = line.and_then(|line| capturing(&source, evidence, line));
        let impossible = captured.as_ref().and_then(|(_, _, doubt)| *doubt);
        if let (Some(doubt), Some((summary, ..))) = (impossible, captured.as_mut()) {
            self.distrust(summary, "the capturing machine's clock", doubt);
        }
        let host = captured.as_ref().map(|(_, line, _)| *line);
        let doubted = Doubted { own: place.doubt().is_some(), host: impossible.is_some() };
        let uncertainty_ns = place.uncertainty_ns();
        self.pieces.push(AlignedRecord { evidence, file, line, host, uncertainty_ns, doubted });
        self.summaries.push(source);
        captured.map(|(summary, ..)| summary)
    }
}

fn fit(place: &Place) -> Option<SourceFit> {
    match place {
        Place::Fitted { fitted, how } => Some(SourceFit::of(fitted, how)),
        Place::Base => Some(SourceFit::same()),
        _ => None,
    }
}

/// The clock of the machine that captured a record, as a source of its own, its way onto the boot's, and why that cannot be.
fn capturing(source: &SourceSummary, evidence: &Evidence, line: Line) -> Option<(SourceSummary, Line, Option<Doubt>)> {
    let fitted = capture_clock::fit_capture_clock(evidence)?;
    let onto = capture_clock::after(fitted.line, line);
    let how = "lines stamped by both clocks; the residual is what the console delayed them";
    let captured = SourceSummary {
        clock: Clock::Host.to_string(),
        part: capture_clock::part(&evidence.part),
        understood: 0,
        not_understood: 0,
        problems: Vec::new(),
        fit: Some(SourceFit::of(&Fitted { line: onto, ..fitted }, how)),
        ..source.clone()
    };
    Some((captured, onto, fitted.doubt))
}
