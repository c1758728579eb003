//! The text of a web page.

use memchr::memmem;

/// Elements without text of the page.
const UNSHOWN: [&[u8]; 3] = [b"style", b"script", b"title"];
/// Elements that begin and end lines.
const BLOCKS: [&[u8]; 28] = [
    b"article",
    b"blockquote",
    b"body",
    b"br",
    b"dd",
    b"div",
    b"dl",
    b"dt",
    b"figure",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"hr",
    b"html",
    b"li",
    b"ol",
    b"p",
    b"pre",
    b"section",
    b"table",
    b"tbody",
    b"textarea",
    b"thead",
    b"tr",
    b"ul",
];
/// Elements that a blank divides from what stands before them on a line.
const CELLS: [&[u8]; 2] = [b"td", b"th"];

/// Whether a text is a page.
pub(super) fn is_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(4096)).unwrap_or_default().to_ascii_lowercase();
    ["<html", "<!doctype html", "<pre", "<body"].iter().any(|tag| memmem::find(&head, tag.as_bytes()).is_some())
}

/// The texts of a page that may hold a record: what a trace viewer holds as data; else what is preformatted, and what is shown.
pub(super) fn texts(bytes: &[u8]) -> Vec<Vec<u8>> {
    if !is_page(bytes) {
        return Vec::new();
    }
    if let Some(data) = memmem::find(bytes, b"class=\"trace-data\"") {
        let begin = memchr::memchr(b'>', &bytes[data..]).map_or(data, |at| data + at + 1);
        let end = memmem::find(&bytes[begin..], b"</script").map_or(bytes.len(), |at| begin + at);
        return vec![bytes[begin..end].to_vec()];
    }
    let mut page = Page::default();
    page.read(bytes);
    let Page { preformatted, shown, .. } = page;
    [preformatted, shown].into_iter().map(|text| text.bytes).filter(|text| !text.is_empty()).collect()
}

/// Text with lines.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Where the present line begins.
    line: usize,
    /// Whether an element ended the line, and nothing came since.
    ended: bool,
    /// Whether a blank comes before what follows on the line.
    apart: bool,
    /// The number that the next line has, where a line is nothing but a number.
    number: usize,
}

impl Lines {
    fn text(&mut self, text: &[u8]) {
        for part in text.split_inclusive(|&byte| byte == b'\n') {
            if std::mem::take(&mut self.ended) && part != b"\n" {
                self.next();
            }
            if std::mem::take(&mut self.apart) && part != b"\n" {
                self.bytes.push(b' ');
            }
            self.bytes.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.bytes.pop();
                self.next();
            }
        }
    }

    fn next(&mut self) {
        let line = self.bytes.get(self.line..).unwrap_or_default().trim_ascii();
        // The numbers of lines, in a column of their own.
        let number = std::str::from_utf8(line).ok().and_then(|line| line.parse::<usize>().ok());
        if number == Some(self.number + 1) {
            self.number += 1;
            self.bytes.truncate(self.line);
        } else {
            self.bytes.push(b'\n');
        }
        self.line = self.bytes.len();
        self.apart = false;
    }

    /// An element ends the line, where there is something on it.
    fn end(&mut self) {
        self.ended |= self.bytes.len() > self.line;
    }

    fn blank(&mut self) {
        self.apart |= self.bytes.len() > self.line && !self.ended;
    }
}

/// A page so far.
#[derive(Debug, Default)]
struct Page {
    preformatted: Lines,
    shown: Lines,
    /// How many preformatted elements are open.
    open: usize,
}

impl Page {
    fn read(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr2(b'<', b'&', rest) {
            self.text(&rest[..at]);
            rest = &rest[at..];
            rest = if let Some((length, character)) = entity(rest) {
                self.text(character.encode_utf8(&mut [0; 4]).as_bytes());
                &rest[length..]
            } else if let Some(comment) = rest.strip_prefix(b"<!--") {
                memmem::find(comment, b"-->").map_or(&[], |end| &comment[end + 3..])
            } else if let Some(end) = tag_end(rest) {
                let after = &rest[end + 1..];
                self.tag(&rest[1..end], after)
            } else {
                self.text(&rest[..1]);
                &rest[1..]
            };
        }
        self.text(rest);
        // A page that was cut within an element leaves its line without an end.
        [&mut self.preformatted, &mut self.shown].into_iter().filter(|lines| lines.ended).for_each(Lines::next);
    }

    fn text(&mut self, text: &[u8]) {
        if self.open > 0 {
            self.preformatted.text(text);
        }
        // Blank lines between elements are not lines of the page.
        if self.open > 0 || text.iter().any(|byte| !byte.is_ascii_whitespace()) {
            self.shown.text(text);
        } else if text.contains(&b'\n') {
            self.shown.end();
        } else {
            self.shown.blank();
        }
    }

    /// What the page goes on with after a tag.
    fn tag<'a>(&mut self, tag: &[u8], after: &'a [u8]) -> &'a [u8] {
        let closes = tag.starts_with(b"/");
        let name = named(tag).0.to_ascii_lowercase();
        if UNSHOWN.contains(&name.as_slice()) && !closes {
            return past_element(&name, after);
        }
        if CELLS.contains(&name.as_slice()) {
            self.preformatted.blank();
            self.shown.blank();
        } else if BLOCKS.contains(&name.as_slice()) {
            self.preformatted.end();
            self.shown.end();
        }
        if name == b"pre" {
            self.open = if closes { self.open.saturating_sub(1) } else { self.open + 1 };
            // A line end right after the tag is none of the text.
            return after.strip_prefix(b"\n").filter(|_| !closes).unwrap_or(after);
        }
        after
    }
}

/// Where an element ends whose text is not shown.
fn past_element<'a>(name: &[u8], after: &'a [u8]) -> &'a [u8] {
    let ends = |at: &usize| after[at + 2..].get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
    memmem::find_iter(after, b"</").find(ends).map_or(&[], |at| &after[at..])
}

/// Where a tag ends that begins here. A name in angle brackets is none: `<jo@example.org>`.
fn tag_end(rest: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b'>', rest.get(..rest.len().min(512))?)?;
    let inside = rest.get(1..end)?;
    let (name, after) = named(inside);
    let is_element = name.first().is_some_and(u8::is_ascii_alphabetic)
        && after.first().is_none_or(|after| after.is_ascii_whitespace() || matches!(after, b'/' | b'-' | b':'));
    (is_element || inside.starts_with(b"!")).then_some(end)
}

/// The name of the element that a tag begins or ends, and what stands behind it.
fn named(tag: &[u8]) -> (&[u8], &[u8]) {
    let name = tag.strip_prefix(b"/").unwrap_or(tag);
    name.split_at(name.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(name.len()))
}

const ENTITIES: [(&[u8], char); 6] =
    [(b"&lt;", '<'), (b"&gt;", '>'), (b"&amp;", '&'), (b"&quot;", '"'), (b"&apos;", '\''), (b"&nbsp;", ' ')];

/// The character that an entity stands for, by its name or as `&#39;` or `&#x27;`, and how long it is.
pub(super) fn entity(rest: &[u8]) -> Option<(usize, char)> {
    if let Some((name, character)) = ENTITIES.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((name.len(), *character));
    }
    let digits = rest.strip_prefix(b"&#")?;
    let end = digits.iter().take(9).position(|&byte| byte == b';')?;
    let digits = std::str::from_utf8(&digits[..end]).ok()?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    Some((end + 3, char::from_u32(code.ok()?)?))
}
