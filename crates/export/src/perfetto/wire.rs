//! Protocol buffers by hand: tags, varints, nested messages.

/// A message being written.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// What was written so far.
    pub(super) bytes: Vec<u8>,
}

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;

pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

impl Message {
    pub(super) fn uint(&mut self, field: u64, value: u64) {
        varint(&mut self.bytes, field << 3 | VARINT);
        varint(&mut self.bytes, value);
    }

    /// `int32` and `int64`: a negative one takes ten bytes.
    pub(super) fn int(&mut self, field: u64, value: i64) {
        self.uint(field, u64::from_ne_bytes(value.to_ne_bytes()));
    }

    pub(super) fn fixed64(&mut self, field: u64, value: u64) {
        varint(&mut self.bytes, field << 3 | FIXED64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn raw(&mut self, field: u64, bytes: &[u8]) {
        varint(&mut self.bytes, field << 3 | LENGTH);
        varint(&mut self.bytes, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, field: u64, text: &str) {
        self.raw(field, text.as_bytes());
    }

    /// A nested message, written in its place: one byte is kept for its length, which most often is enough.
    pub(super) fn message(&mut self, field: u64, fill: impl FnOnce(&mut Message)) {
        varint(&mut self.bytes, field << 3 | LENGTH);
        let start = self.bytes.len();
        self.bytes.push(0);
        fill(self);
        let length = self.bytes.len() - start - 1;
        match (u8::try_from(length), self.bytes.get_mut(start)) {
            (Ok(length @ 0..=0x7f), Some(place)) => *place = length,
            _ => {
                let mut written = Vec::new();
                varint(&mut written, length as u64);
                self.bytes.splice(start..=start, written);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_the_encoding_says() {
        let mut message = Message::default();
        message.uint(1, 150);
        message.text(2, "testing");
        message.int(3, -1);
        message.fixed64(4, 1);
        let mut expected = vec![0x08, 0x96, 0x01, 0x12, 7];
        expected.extend(b"testing");
        expected.extend([0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        expected.extend([0x21, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(message.bytes, expected);
    }

    #[test]
    fn a_nested_message_has_its_length_before_it_however_long_it_is() {
        for length in [0, 1, 127, 128, 20_000] {
            let mut message = Message::default();
            message.message(3, |inner| inner.bytes.resize(inner.bytes.len() + length, b'x'));
            message.uint(1, 1);
            let mut expected = vec![0x1a];
            varint(&mut expected, length as u64);
            expected.resize(expected.len() + length, b'x');
            expected.extend([0x08, 1]);
            assert_eq!(message.bytes, expected, "{length}");
        }
    }
}
