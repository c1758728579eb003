//! The parts of what runs before the kernel's image, as the configuration names them.

use serde::{Deserialize, Deserializer};

/// Fewer bytes may stand elsewhere, too.
const FEWEST_BYTES: usize = 16;

/// What begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Begins {
    /// The boot loader.
    Loader,
    /// The kernel's decompressor.
    Decompressor,
    /// The kernel's image, at its entry.
    Kernel,
}

/// A part of what runs before the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub begins: Begins,
    /// Its first bytes, written in hexadecimal digits; nothing where it has the machine's first instruction.
    #[serde(deserialize_with = "code")]
    pub code: Vec<u8>,
    /// What it is, for people.
    pub detail: String,
    /// It has begun.
    #[serde(skip)]
    pub reached: bool,
}

fn code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = bytes_of(&text).ok_or_else(|| serde::de::Error::custom("the code of a part is not hexadecimal"))?;
    match bytes.len() {
        0 | FEWEST_BYTES.. => Ok(bytes),
        few => Err(serde::de::Error::custom(format!("{few} bytes do not identify a part: give {FEWEST_BYTES}"))),
    }
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect::<Option<Vec<u8>>>()?;
    digits.chunks(2).map(|pair| Some(pair.first()? << 4 | pair.get(1)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(code: &str) -> Result<Part, serde_json::Error> {
        serde_json::from_value(serde_json::json!({"begins": "loader", "code": code, "detail": "U-Boot"}))
    }

    #[test]
    fn the_code_of_a_part_is_hexadecimal() {
        let read = part("000102030405060708090a0b0c0d0eFF").expect("sixteen bytes");
        assert_eq!((read.begins, read.code.len(), read.code.last()), (Begins::Loader, 16, Some(&0xff)));
        assert!(part("").expect("the first instruction").code.is_empty());
        for wrong in ["00", "0", "xy0102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f1"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
    }
}
