//! Texts of a recording, each stored once.

/// A number in [`super::Userspace::texts`].
pub type TextId = u32;
