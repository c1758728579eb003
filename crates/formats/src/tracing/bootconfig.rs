//! Boot configurations: parsed as the kernel parses them, and held against its limits.

use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, Problem, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// What the kernel takes at most: bytes, nodes (8192 in 6.12, 1024 in older ones), and the depth of a key.
const MOST_BYTES: usize = 32 << 10;
const MOST_NODES: usize = 8192;
const OLD_NODES: usize = 1024;
const MOST_DEPTH: usize = 16;
/// What is read at all.
const READ_BYTES: u64 = 1 << 20;

/// The reader.
pub struct BootConfig;

const ROOTS: [&str; 3] = ["kernel", "init", "ftrace"];

impl Format for BootConfig {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Bootconfig, Traits::of(Origin::Ftrace)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let named = head.file_name().ends_with(".bconf") || head.file_name().contains("bootconfig");
        let text = String::from_utf8_lossy(head.bytes);
        let first =
            text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
        let word = first.split(['.', ' ', '=', '{', ';', ':', '+', '\t']).next().unwrap_or_default();
        let rooted = ROOTS.contains(&word) && first.contains(['=', '{', '.']);
        // A longer text cannot be one.
        let parsed = || {
            head.bytes.len() <= MOST_BYTES && {
                let (keys, faults) = parse(&text);
                faults.is_empty() && !keys.is_empty()
            }
        };
        match (named, rooted) {
            (true, true) => Likelihood::Certain,
            (_, true) if parsed() => Likelihood::Likely,
            (true, _) if parsed() => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut bytes = Vec::new();
        input.bytes.take(READ_BYTES + 1).read_to_end(&mut bytes)?;
        let mut evidence = Evidence::of(BootConfig.about(), Clock::Untimed);
        evidence.first_line = 1;
        if bytes.len() > MOST_BYTES {
            let detail = format!("it has {} bytes, the kernel takes {MOST_BYTES}", bytes.len());
            evidence.problem(ProblemKind::Overlong, None, detail);
            bytes.truncate(READ_BYTES as usize);
        }
        let padding = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        bytes.truncate(bytes.len() - padding);
        let text = String::from_utf8_lossy(&bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            evidence.problem(ProblemKind::Encoding, None, "it is not all UTF-8; the kernel takes printable ASCII only");
        }
        let (keys, faults) = parse(&text.replace("\r\n", "\n"));
        if keys.is_empty() {
            return Err(self.not_this("no key in it"));
        }
        validate(&keys, &mut evidence);
        for (line, what) in faults.into_iter().take(100) {
            evidence.problems.push(Problem { kind: ProblemKind::Torn, detail: what, line: Some(line), lost: None });
        }
        evidence.understood = keys.len() as u64;
        for (key, values) in keys {
            let value = values.0.join(", ");
            evidence.facts.push((format!("bootconfig.{key}").into(), value));
        }
        Ok(vec![evidence])
    }
}

/// The values of a key, and the line where it was first set.
type Keys = BTreeMap<String, (Vec<String>, u64)>;

fn validate(keys: &Keys, evidence: &mut Evidence) {
    let mut nodes = BTreeSet::new();
    let mut values = 0;
    for (key, (list, line)) in keys {
        let mut depth = 0;
        for (place, _) in key.match_indices('.').chain([(key.len(), "")]) {
            nodes.insert(&key[..place]);
            depth += 1;
            let parent = &key[..place];
            if place < key.len() && keys.get(parent).is_some_and(|(values, _)| !values.is_empty()) {
                let detail =
                    format!("`{parent}` has both a value and keys below it (`{key}`): kernels before 5.14 reject it");
                evidence.problem(ProblemKind::Implausible, Some(*line), detail);
            }
        }
        if depth > MOST_DEPTH {
            let detail = format!("`{key}` has {depth} words, the kernel takes {MOST_DEPTH}");
            evidence.problem(ProblemKind::Overlong, Some(*line), detail);
        }
        values += list.len();
    }
    let count = nodes.len() + values;
    evidence.facts.push(("bootconfig_nodes".into(), count.to_string()));
    if count > MOST_NODES {
        let detail = format!("it has {count} nodes, the kernel takes {MOST_NODES}");
        evidence.problem(ProblemKind::Overlong, None, detail);
    } else if count > OLD_NODES {
        let detail = format!("it has {count} nodes; kernels that stop at {OLD_NODES} refuse it");
        evidence.problem(ProblemKind::Implausible, None, detail);
    }
}

struct Parser<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: u64,
    faults: Vec<(u64, String)>,
}

/// All keys with their values, and what could not be read, by line.
fn parse(text: &str) -> (Keys, Vec<(u64, String)>) {
    let mut parser = Parser { rest: text.chars().peekable(), line: 1, faults: Vec::new() };
    let mut keys = Keys::new();
    let mut groups: Vec<String> = Vec::new();
    while let Some(&letter) = parser.rest.peek() {
        match letter {
            '}' => {
                parser.take();
                if groups.pop().is_none() {
                    parser.fault("a `}` that closes nothing");
                }
            }
            ';' | ' ' | '\t' | '\r' | '\n' => {
                parser.take();
            }
            '#' => parser.comment(),
            _ => parser.statement(&mut keys, &mut groups),
        }
    }
    if !groups.is_empty() {
        parser.fault("a `{` that is not closed");
    }
    (keys, parser.faults)
}

impl Parser<'_> {
    fn take(&mut self) -> Option<char> {
        let letter = self.rest.next();
        if letter == Some('\n') {
            self.line += 1;
        }
        letter
    }

    fn fault(&mut self, what: &str) {
        if self.faults.len() < 1000 {
            self.faults.push((self.line, what.to_owned()));
        }
    }

    fn comment(&mut self) {
        while self.rest.peek().is_some_and(|letter| *letter != '\n') {
            self.take();
        }
    }

    fn blanks(&mut self) {
        while matches!(self.rest.peek(), Some(' ' | '\t' | '\r')) {
            self.take();
        }
    }

    /// `KEY`, `KEY = VALUES`, `KEY := VALUES`, `KEY += VALUES`, `KEY {`
    fn statement(&mut self, keys: &mut Keys, groups: &mut Vec<String>) {
        let line = self.line;
        let mut word = String::new();
        while let Some(&letter) = self.rest.peek() {
            if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.') {
                word.push(letter);
                self.take();
            } else {
                break;
            }
        }
        let spoilt = word.is_empty() || word.split('.').any(str::is_empty) || word.len() > MOST_BYTES;
        if spoilt {
            let bad = self.rest.peek().copied().unwrap_or(' ');
            self.fault(&format!("`{}{}` is not a key", word, bad.escape_default()));
            while !matches!(self.rest.peek(), None | Some('\n' | ';' | '}')) {
                self.take();
            }
            return;
        }
        let prefix: usize = groups.last().map_or(0, String::len);
        if prefix + word.len() > MOST_BYTES {
            self.fault("a key longer than the kernel takes");
            return;
        }
        let key = groups.last().map_or_else(|| word.clone(), |group| format!("{group}.{word}"));
        self.blanks();
        let operator = match self.rest.peek() {
            Some('{') => {
                self.take();
                if groups.len() < MOST_DEPTH * 2 {
                    groups.push(key);
                } else {
                    self.fault("groups nested deeper than the kernel takes");
                }
                return;
            }
            Some('=') => '=',
            Some(&sign @ (':' | '+')) => {
                self.take();
                if self.rest.peek() != Some(&'=') {
                    self.fault(&format!("`{sign}` without `=`"));
                    return;
                }
                sign
            }
            _ => {
                keys.entry(key).or_insert((Vec::new(), line));
                return;
            }
        };
        self.take();
        let values = self.values();
        match (keys.get_mut(&key), operator) {
            (Some((known, _)), '+') => known.extend(values),
            (Some((known, _)), ':') => *known = values,
            (Some((known, _)), _) if !known.is_empty() => {
                self.fault(&format!("`{key}` is set twice: `:=` replaces, `+=` appends"));
            }
            (Some((known, _)), _) => *known = values,
            (None, _) => {
                keys.insert(key, (values, line));
            }
        }
    }

    /// Values, separated by commas, to the end of the line.
    fn values(&mut self) -> Vec<String> {
        let mut values = Vec::new();
        loop {
            self.blanks();
            let mut value = String::new();
            match self.rest.peek().copied() {
                Some(quote @ ('"' | '\'')) => {
                    self.take();
                    loop {
                        match self.take() {
                            Some(letter) if letter == quote => break,
                            Some(letter) => value.push(letter),
                            None => {
                                self.fault("a quote that is not closed");
                                break;
                            }
                        }
                    }
                }
                _ => {
                    while let Some(letter) =
                        self.rest.peek().copied().filter(|letter| !matches!(letter, ',' | ';' | '\n' | '#' | '}'))
                    {
                        value.push(letter);
                        self.take();
                    }
                    value.truncate(value.trim_end().len());
                }
            }
            values.push(value);
            self.blanks();
            if self.rest.peek() == Some(&'#') {
                self.comment();
            }
            if self.rest.peek() != Some(&',') {
                return values;
            }
            self.take();
            // After a comma a value may stand on the next line.
            while matches!(self.rest.peek(), Some(letter) if letter.is_whitespace()) {
                self.take();
            }
        }
    }
}
