//! What `systemd-analyze` prints in one file: the outputs of several commands, of several boots, with prompts and prose between.

use super::blame::{self, BLAME};
use super::critical_chain::{self, Chain, Drawn, CHAIN_HEAD};
use super::short_line;
use super::time::{startup_line, Stages, UNFINISHED};
use super::timespan::STEP_NS;
use crate::enclosed::{with_characters, Enclosure};
use crate::evidence::{Clock, Evidence, Unparsed};
use crate::format::{Format, Head, Input};
use crate::kernel_log::{boot_messages, prefix, unstamped_lines};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use std::collections::HashMap;

/// A reader of one of these outputs.
pub(super) struct Output {
    /// Its format.
    pub name: FormatName,
    /// What its record lacks that has nothing of it.
    pub nothing: &'static str,
    /// What lines are that it does not know; follows their number.
    pub unknown: &'static str,
}

/// What lines are that no output has; follows their number.
pub(super) const UNKNOWN: &str = "line[|s] [is|are] not output of systemd-analyze, and [is|are] left out";
/// Which command printed a part of the boot.
const PARTS: [(FormatName, &str); 3] = [
    (FormatName::SystemdTime, "systemd-analyze time"),
    (FormatName::SystemdBlame, "systemd-analyze blame"),
    (FormatName::SystemdCriticalChain, "systemd-analyze critical-chain"),
];

/// Reads every output in a record; one of the reader's own has to be among them.
pub(super) fn read(reader: &dyn Format, own: &Output, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
    let mut pasted = Pasted::new(own.name);
    let mut lines = Lines::new(input.bytes);
    while let Some(line) = lines.next_line()? {
        pasted.line(&with_characters(&String::from_utf8_lossy(line.bytes)), line.number);
    }
    pasted.flush();
    let several = pasted.boots.len() > 1;
    let mut all = Vec::new();
    for (boot, number) in pasted.boots.into_iter().zip(0..) {
        all.extend(boot.finish(number, several, own));
    }
    if !all.iter().any(|evidence| evidence.format.name == own.name.name()) {
        return Err(reader.not_this(own.nothing));
    }
    if let Some(first) = all.first_mut() {
        first.problems.extend(lines.problems());
    }
    Ok(all)
}

/// How many lines of a text have a shape, where nothing in it is of another record: such a text is pasted output.
pub(super) fn pasted_rows(head: &Head<'_>, shape: impl Fn(&str) -> bool) -> usize {
    let text = String::from_utf8_lossy(head.bytes);
    let rows = text.lines().filter(|line| shape(unquoted(line))).count();
    let other = |line: &str| {
        let bytes = line.trim_ascii_end().as_bytes();
        prefix::inner_stamp(bytes, 0).is_some()
            || boot_messages::is_boot_message(bytes)
            || unstamped_lines::sign(bytes).is_some()
            || short_line::parse(line).is_some()
    };
    let document = || Enclosure::Html.is_document(head.bytes) || Enclosure::Json.is_document(head.bytes);
    if rows == 0 || document() || text.lines().any(other) {
        return 0;
    }
    rows
}

/// A line without the `> ` of a mail.
fn unquoted(line: &str) -> &str {
    let mut rest = line;
    while let Some(inside) = rest.strip_prefix('>') {
        rest = inside.strip_prefix(' ').unwrap_or(inside);
    }
    rest.trim_end()
}

/// What the boots so far have, and the rows that are not yet of one of them.
struct Pasted {
    boots: Vec<Boot>,
    blame: Vec<(u64, i64, String)>,
    chain: Vec<Drawn>,
    /// Whether rows of a tree may come that have no time.
    in_chain: bool,
    /// By how much the tree is indented.
    indent: usize,
    /// Whether the command asked for another manager than the system's.
    of_user: bool,
    unfinished: bool,
}

impl Pasted {
    fn new(own: FormatName) -> Self {
        let in_chain = own == FormatName::SystemdCriticalChain;
        let boots = vec![Boot::new(1)];
        Self { boots, blame: Vec::new(), chain: Vec::new(), in_chain, indent: 0, of_user: false, unfinished: false }
    }

    fn boot(&mut self, line: u64) -> &mut Boot {
        if self.boots.is_empty() {
            self.boots.push(Boot::new(line));
        }
        let last = self.boots.len() - 1;
        &mut self.boots[last]
    }

    fn line(&mut self, text: &str, number: u64) {
        let text = unquoted(text);
        let bare = text.trim();
        if let Some(user) = command(bare) {
            self.flush();
            (self.in_chain, self.of_user) = (false, user);
        } else if bare.is_empty() || bare.starts_with("```") || bare.starts_with("~~~") {
            self.of_user &= bare.is_empty();
        } else if self.of_user {
            self.boot(number).unparsed.add(number);
        } else if bare.starts_with(CHAIN_HEAD) {
            self.flush();
            self.in_chain = true;
        } else if !(self.took(text, bare, number) || self.unfinished && of_unfinished(bare) || of_pager(bare)) {
            if bare.contains("$ ") || bare.contains("# ") {
                self.flush();
                self.in_chain = false;
            }
            self.boot(number).unparsed.add(number);
        }
    }

    /// Takes a line of an output.
    fn took(&mut self, text: &str, bare: &str, number: u64) -> bool {
        if let Some(stages) = startup_line(bare) {
            self.flush();
            self.in_chain = false;
            if self.boot(number).stages.startup.as_deref().is_some_and(|known| known != stages) {
                self.boots.push(Boot::new(number));
            }
            self.boot(number).begins(number).stages.startup(stages, number);
        } else if bare.starts_with(UNFINISHED) {
            self.unfinished = true;
            self.boot(number).begins(number).stages.unfinished(number);
        } else if self.boot(number).stages.target(bare) {
            self.boot(number).begins(number);
        } else if let Some((length, unit)) = blame::row(bare) {
            // The list is sorted: a longer one begins the next.
            if self.blame.last().is_none_or(|(_, before, _)| *before < length) {
                self.flush();
            }
            self.in_chain = false;
            self.blame.push((number, length, unit.to_owned()));
        } else {
            return self.took_of_tree(text, number);
        }
        true
    }

    fn took_of_tree(&mut self, text: &str, number: u64) -> bool {
        let indent = text.len() - text.trim_start().len();
        let inside = text.get(self.indent.min(indent)..).unwrap_or(text);
        let Some(row) = critical_chain::row(inside, number) else { return false };
        let timed = row.at.is_some() || row.took.is_some();
        if !self.in_chain && !timed {
            return false;
        }
        if !row.drawn && (row.depth == 0 || self.chain.is_empty()) {
            let Some(root) = critical_chain::row(text.trim_start(), number) else { return false };
            self.flush();
            (self.in_chain, self.indent) = (true, indent);
            self.chain.push(root);
            return true;
        }
        self.in_chain = true;
        if !self.blame.is_empty() {
            self.flush();
        }
        self.chain.push(row);
        true
    }

    /// Gives the rows to the boot, or to the next one if they contradict it.
    fn flush(&mut self) {
        let (blame, chain) = (std::mem::take(&mut self.blame), std::mem::take(&mut self.chain));
        self.indent = 0;
        let begins = blame.first().map(|row| row.0).or(chain.first().map(|row| row.line));
        let Some(line) = begins else { return };
        let known = self.boot(line);
        let other = blame.iter().any(|(_, length, unit)| known.blame.get(unit).is_some_and(|known| known != length))
            || chain.iter().any(|row| known.chain.contradicts(row));
        if other {
            self.boots.push(Boot::new(line));
        }
        let boot = self.boot(line).begins(line);
        for (_, length, unit) in blame {
            if boot.blame.insert(unit.clone(), length).is_none() {
                boot.rows.push((length, unit));
            }
            boot.blamed += 1;
        }
        for row in chain {
            boot.chain.add(row);
        }
    }
}

/// The outputs of one boot.
struct Boot {
    first_line: u64,
    begun: bool,
    stages: Stages,
    blame: HashMap<String, i64>,
    rows: Vec<(i64, String)>,
    blamed: u64,
    chain: Chain,
    unparsed: Unparsed,
}

impl Boot {
    fn new(first_line: u64) -> Self {
        Self {
            first_line,
            begun: false,
            stages: Stages::default(),
            blame: HashMap::new(),
            rows: Vec::new(),
            blamed: 0,
            chain: Chain::default(),
            unparsed: Unparsed::default(),
        }
    }

    /// Notes the first of its lines.
    fn begins(&mut self, line: u64) -> &mut Self {
        if !std::mem::replace(&mut self.begun, true) {
            self.first_line = line;
        }
        self
    }

    fn finish(self, number: u32, several: bool, own: &Output) -> Vec<Evidence> {
        let first_line = if several { self.first_line } else { 1 };
        let time = self.stages.finish();
        let blame = (self.blamed > 0).then(|| {
            let mut evidence = Evidence::of(BLAME, Clock::Untimed);
            evidence.understood = self.blamed;
            self.rows.into_iter().for_each(|(length, unit)| evidence.spans.push(blame::span(length, unit)));
            evidence
        });
        let mut all: Vec<Evidence> = [time, blame, self.chain.finish()].into_iter().flatten().collect();
        let alone = matches!(all.as_slice(), [one] if one.format.name == own.name.name());
        let single = all.len() == 1;
        for evidence in &mut all {
            (evidence.boot, evidence.first_line, evidence.step_ns) = (number, first_line, STEP_NS);
            let part = PARTS.iter().find(|(name, _)| !single && name.name() == evidence.format.name);
            evidence.part = part.map_or("", |(_, part)| part).to_owned();
        }
        if let Some(first) = all.first_mut() {
            self.unparsed.report(if alone { own.unknown } else { UNKNOWN }, first);
        }
        all
    }
}

/// Whether a line is a command of systemd-analyze behind a prompt, or alone; and whether it asks for the manager of a user.
fn command(line: &str) -> Option<bool> {
    const VERBS: [&str; 6] = ["time", "blame", "critical-chain", "plot", "dot", "dump"];
    const ENDS: [char; 7] = ['-', '|', '>', '<', ';', '&', '2'];
    let at = line.find("systemd-analyze")?;
    let (before, after) = (line[..at].trim_end(), &line[at + "systemd-analyze".len()..]);
    let before = before.strip_suffix("sudo").unwrap_or(before).trim_end();
    let prompt = before.is_empty() || before.ends_with(['$', '#', '%', '>', '~', '❯', '➜', 'λ']);
    let mut words = after.split_ascii_whitespace();
    let arguments = match words.next() {
        None => true,
        Some(word) => after.starts_with(' ') && (VERBS.contains(&word) || word.starts_with(ENDS)),
    };
    (prompt && arguments).then(|| after.contains("--user"))
}

/// What a pager shows at its end.
fn of_pager(line: &str) -> bool {
    let lines = line.strip_prefix("lines ").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    lines || line == "~" || line == "(END)"
}

/// What follows the line that the start is not over.
fn of_unfinished(line: &str) -> bool {
    line.starts_with("Please try again later") || line.starts_with("Hint: Use 'systemctl")
}
