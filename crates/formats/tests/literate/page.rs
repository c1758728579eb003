//! Pages of records and their evidence.

use std::path::{Path, PathBuf};

/// One excerpt on a page.
pub struct Record {
    pub name: String,
    pub forced: Option<String>,
    pub bytes: Vec<u8>,
    pub expected: String,
    lines: std::ops::Range<usize>,
}

/// A page: its lines.
pub struct Page {
    path: PathBuf,
    lines: Vec<String>,
}

/// Every page that shows records, in order.
pub fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/formats/records");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

impl Page {
    pub fn open(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        Self { path: path.to_owned(), lines: text.lines().map(str::to_owned).collect() }
    }

    /// The records, the last first: so that a replacement moves none that is still to come.
    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        let mut at = 0;
        let end = |from: usize| (from..self.lines.len()).find(|&line| self.lines[line] == "```");
        while at < self.lines.len() {
            if let Some(header) = self.lines[at].strip_prefix("```record ") {
                let close = end(at + 1).unwrap();
                let mut words = header.split_whitespace();
                let name = words.next().unwrap().to_owned();
                let forced = words.find_map(|word| word.strip_prefix("as=").map(str::to_owned));
                let bytes = bytes(&self.lines[at + 1..close]);
                let open = (close + 1..self.lines.len()).find(|&line| self.lines[line].starts_with("```"));
                let open = open.filter(|&line| self.lines[line] == "```evidence");
                assert!(open.is_some(), "{}:{}: no evidence follows", self.path.display(), close + 1);
                let open = open.unwrap();
                let close = end(open + 1).unwrap();
                let mut expected = self.lines[open + 1..close].join("\n");
                if !expected.is_empty() {
                    expected.push('\n');
                }
                records.push(Record { name, forced, bytes, expected, lines: open + 1..close });
                at = close;
            }
            at += 1;
        }
        records.reverse();
        records
    }

    pub fn replace(&mut self, record: &Record, evidence: &str) {
        self.lines.splice(record.lines.clone(), evidence.lines().map(str::to_owned));
    }

    pub fn save(&self) {
        std::fs::write(&self.path, self.lines.join("\n") + "\n").unwrap();
    }
}

fn bytes(lines: &[String]) -> Vec<u8> {
    let unended = lines.last().is_some_and(|line| line == "\\");
    let lines = if unended { &lines[..lines.len() - 1] } else { lines };
    let mut text = lines.join("\n").into_bytes();
    if !unended && !lines.is_empty() {
        text.push(b'\n');
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let hex = rest.strip_prefix(b"\\x").and_then(|rest| rest.get(..2));
        let hex = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        if let Some(byte) = hex {
            bytes.push(byte);
            at += 4;
        } else if rest.starts_with(b"\\t") {
            bytes.push(b'\t');
            at += 2;
        } else {
            bytes.push(text[at]);
            at += 1;
        }
    }
    bytes
}
