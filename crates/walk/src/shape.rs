//! The shape of a tree: the number of directories in each directory of a level.

use crate::error::{Error, Result};

/// More levels than a path has room for names.
const DEEPEST: usize = 1000;

/// `70x70`: a directory with 70 directories of 70 empty directories each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(pub Vec<u32>);

impl Shape {
    /// Reads numbers joined by `x`, from the top down.
    pub fn parse(text: &str) -> Result<Self> {
        let levels: Option<Vec<u32>> = text
            .split('x')
            .map(|number| number.parse().ok().filter(|level| *level > 0 && number.bytes().all(|b| b.is_ascii_digit())))
            .collect();
        levels
            .filter(|levels| levels.len() <= DEEPEST)
            .map(Self)
            .ok_or_else(|| Error::Shape(text.escape_debug().to_string()))
    }

    /// How many directories there are, the top one included; a number too large for counting is the largest.
    #[cfg(test)]
    pub fn directories(&self) -> u64 {
        let mut on_level = 1_u64;
        self.0.iter().fold(1, |all: u64, level| {
            on_level = on_level.saturating_mul(u64::from(*level));
            all.saturating_add(on_level)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_numbers_from_the_top_down() {
        for (text, directories) in [("70x70", 4971), ("10x10x10", 1111), ("1000", 1001), ("1x1", 3)] {
            assert_eq!(Shape::parse(text).unwrap().directories(), directories, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_a_shape_is_named() {
        for text in ["", "x", "70x", "0", "70x0", "-1", "+7", "70 x 70", "4294967296", "7y7"] {
            assert!(Shape::parse(text).unwrap_err().to_string().contains("not a tree shape"), "{text}");
        }
    }
}
