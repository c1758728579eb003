//! What syslog calls the machine, in front of each line.

use crate::evidence::{Evidence, Name};

/// A name is not longer.
const LONGEST: usize = 255;

/// The names so far.
#[derive(Debug, Default)]
pub(super) struct HostNames {
    first: Option<Vec<u8>>,
    /// There is a second one: the machine was renamed, or a collector wrote the lines of several.
    several: bool,
}

impl HostNames {
    pub(super) fn line(&mut self, name: &[u8]) {
        match &self.first {
            Some(first) => self.several |= first != name,
            None if name.len() <= LONGEST => self.first = Some(name.to_vec()),
            None => {}
        }
    }

    /// Writes the name, if all lines have the same and systemd did not set one.
    pub(super) fn finish(self, boot: &mut Evidence) {
        let fact = "system.hostname";
        let name = self.first.filter(|_| !self.several).and_then(|name| String::from_utf8(name).ok());
        if let Some(name) = name.filter(|_| boot.facts.iter().all(|(known, _)| known != fact)) {
            boot.facts.push((Name::Borrowed(fact), name));
        }
    }
}
