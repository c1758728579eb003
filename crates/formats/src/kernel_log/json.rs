//! A JSON text taken apart piece by piece, however long it is.

use std::io::{BufRead, Result};

/// A string or word longer than this is cut.
const LIMIT: usize = 1 << 20;

/// One piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonFragment {
    /// `{`, `[`, `}`, `]`, `:`, `,`.
    Mark(u8),
    /// A string; its bytes are in [`JsonFragments::value`], its escapes resolved.
    Text,
    /// A number or a word.
    Word,
}

/// The pieces of a text.
pub struct JsonFragments<'a> {
    input: &'a mut dyn BufRead,
    value: Vec<u8>,
    line: u64,
    cut: bool,
}

impl<'a> JsonFragments<'a> {
    /// Of a text, from where it stands.
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, value: Vec::new(), line: 1, cut: false }
    }

    /// The bytes of the last string or word.
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// The line it stood on.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Whether the text ended within a string.
    pub fn cut(&self) -> bool {
        self.cut
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn next(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.input.consume(1);
        }
        self.line += u64::from(byte == Some(b'\n'));
        Ok(byte)
    }

    fn keep(&mut self, byte: u8) {
        if self.value.len() < LIMIT {
            self.value.push(byte);
        }
    }

    /// The next piece, or none at the end.
    ///
    /// # Errors
    ///
    /// What reading the input gives.
    pub fn piece(&mut self) -> Result<Option<JsonFragment>> {
        loop {
            let Some(byte) = self.next()? else { return Ok(None) };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'{' | b'}' | b'[' | b']' | b':' | b',' => return Ok(Some(JsonFragment::Mark(byte))),
                b'"' => {
                    self.text()?;
                    return Ok(Some(JsonFragment::Text));
                }
                _ => {
                    self.value.clear();
                    self.keep(byte);
                    while let Some(byte) = self.peek()?.filter(|byte| !b" \t\r\n{}[]:,\"".contains(byte)) {
                        self.input.consume(1);
                        self.keep(byte);
                    }
                    return Ok(Some(JsonFragment::Word));
                }
            }
        }
    }

    fn text(&mut self) -> Result<()> {
        self.value.clear();
        loop {
            match self.next()? {
                None => {
                    self.cut = true;
                    return Ok(());
                }
                Some(b'"') => return Ok(()),
                Some(b'\\') => match self.next()? {
                    None => {}
                    Some(b'u') => self.unicode()?,
                    Some(b'n') => self.keep(b'\n'),
                    Some(b't') => self.keep(b'\t'),
                    Some(b'r') => self.keep(b'\r'),
                    Some(b'b') => self.keep(8),
                    Some(b'f') => self.keep(12),
                    Some(byte) => self.keep(byte),
                },
                Some(byte) => self.keep(byte),
            }
        }
    }

    fn hex(&mut self) -> Result<u32> {
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek()?.and_then(|byte| char::from(byte).to_digit(16)) else { break };
            self.input.consume(1);
            value = value * 16 + digit;
        }
        Ok(value)
    }

    fn unicode(&mut self) -> Result<()> {
        let mut code = self.hex()?;
        if (0xd800..0xdc00).contains(&code) && self.peek()? == Some(b'\\') {
            self.input.consume(1);
            if self.peek()? == Some(b'u') {
                self.input.consume(1);
                let low = self.hex()?;
                if (0xdc00..0xe000).contains(&low) {
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                }
            }
        }
        let mut bytes = [0; 4];
        let text = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut bytes);
        for byte in text.bytes() {
            self.keep(byte);
        }
        Ok(())
    }
}
