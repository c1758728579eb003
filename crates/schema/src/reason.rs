//! Why a length has its grade: a code of the vocabulary with its parameters.

use crate::vocabulary::ReasonCode;
use std::borrow::Cow;
use std::fmt;

/// A code and the values of its parameters; its sentence is that of the vocabulary.
///
/// ```
/// use firstlight_schema::{Reason, ReasonCode};
/// assert_eq!(Reason::of(ReasonCode::TracerStep).with("us", 5).to_string(), "stamped by the tracer, to 5 us");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Which reason.
    pub code: ReasonCode,
    /// Name and value of each parameter.
    pub parameters: Vec<(&'static str, String)>,
}

impl Reason {
    /// A reason without parameters.
    pub const fn of(code: ReasonCode) -> Self {
        Self { code, parameters: Vec::new() }
    }

    /// The same with the value of a parameter.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.parameters.push((name, value.to_string()));
        self
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.code.text();
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            formatter.write_str(before)?;
            let value = self.parameters.iter().find(|(known, _)| *known == name);
            formatter.write_str(value.map_or("?", |(_, value)| value))?;
            rest = after;
        }
        formatter.write_str(rest)
    }
}

impl From<ReasonCode> for Cow<'static, str> {
    fn from(code: ReasonCode) -> Self {
        Cow::Borrowed(code.text())
    }
}

impl From<Reason> for Cow<'static, str> {
    fn from(reason: Reason) -> Self {
        Cow::Owned(reason.to_string())
    }
}
