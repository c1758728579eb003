//! What a value of a person's question is: which argument of a function, which members behind it, and how to read what is there.

use crate::types::Types;
use btf_rs::Type;
use serde::Deserialize;
use serde_json::Value as Json;

/// Arguments that are passed in registers.
const IN_REGISTERS: usize = 6;

/// So many names fit into the status.
const MOST_NAMES: usize = 20;

/// How a value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    /// A pointer to text.
    String,
    /// Text inside the last member.
    Text,
}

impl Kind {
    /// A word as this kind has it.
    pub fn of(self, word: u64) -> Json {
        match self {
            Self::U8 => (word as u8).into(),
            Self::U16 => (word as u16).into(),
            Self::U32 => (word as u32).into(),
            Self::S8 => (word as i8).into(),
            Self::S16 => (word as i16).into(),
            Self::S32 => (word as i32).into(),
            Self::S64 => (word as i64).into(),
            Self::U64 | Self::String | Self::Text => word.into(),
        }
    }

    /// How many bytes are read.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 => 2,
            Self::U32 | Self::S32 => 4,
            Self::U64 | Self::S64 | Self::String | Self::Text => 8,
        }
    }

    fn integer(bytes: usize, is_signed: bool) -> Option<Self> {
        Some(match (bytes, is_signed) {
            (1, false) => Self::U8,
            (2, false) => Self::U16,
            (4, false) => Self::U32,
            (8, false) => Self::U64,
            (1, true) => Self::S8,
            (2, true) => Self::S16,
            (4, true) => Self::S32,
            (8, true) => Self::S64,
            _ => return None,
        })
    }
}

/// Where a value is.
#[derive(Debug, Clone)]
pub struct Place {
    /// The argument's number.
    pub argument: usize,
    /// Offsets: each but the last leads to a pointer that is followed.
    pub members: Vec<u64>,
    pub kind: Kind,
}

/// Finds a value.
///
/// # Errors
///
/// What is wrong with the question, and on a line of its own what there is.
pub fn place(types: &Types, function: &str, path: &[String], kind: Option<Kind>) -> Result<Place, String> {
    let (parameter, fields) = path.split_first().ok_or("a value without a name")?;
    let parameters = types.parameters(function).ok_or_else(|| {
        format!("the kernel does not describe the function `{function}`\nask for a function of C code")
    })?;
    let names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
    let found = parameters.iter().enumerate().find(|(_, (name, _))| name == parameter);
    let (argument, (_, of)) =
        found.ok_or_else(|| format!("`{function}` has no parameter `{parameter}`\n{}", there_are(&names)))?;
    if argument >= IN_REGISTERS {
        return Err(format!("`{parameter}` is not in a register\nonly the first {IN_REGISTERS} parameters are"));
    }
    let (mut of, mut members, mut shown) = (of.clone(), Vec::<u64>::new(), parameter.clone());
    for field in fields {
        let is_pointer = matches!(of, Type::Ptr(_));
        let structure = if is_pointer { types.target(&of) } else { Some(of) };
        let structure = structure.filter(|each| matches!(each, Type::Struct(_) | Type::Union(_)));
        let structure = structure
            .ok_or_else(|| format!("`{shown}` is not a structure, so it has no member `{field}`\nleave it out"))?;
        let known = types.members(&structure);
        let (offset, member) = types
            .member(&structure, field)
            .ok_or_else(|| format!("`{shown}` has no member `{field}`\n{}", there_are(&known)))?;
        match members.last_mut().filter(|_| !is_pointer) {
            Some(last) => *last += offset,
            None => members.push(offset),
        }
        of = member;
        shown = format!("{shown}->{field}");
    }
    let kind = match kind.or_else(|| natural(types, &of)) {
        // A pointer to text inside the last member is followed; text inside it is not.
        Some(Kind::String) if matches!(of, Type::Array(_)) => Kind::Text,
        Some(kind) => kind,
        None => {
            let known = types.members(&of);
            return Err(format!("`{shown}` is a structure\nname a member: {}", there_are(&known)));
        }
    };
    Ok(Place { argument, members, kind })
}

/// How the result of a function is read; none for a function without one.
pub fn result(types: &Types, function: &str) -> Option<Kind> {
    let kind = natural(types, &types.result(function)?).unwrap_or(Kind::U64);
    Some(if kind == Kind::String { Kind::U64 } else { kind })
}

// How a type is read where the question does not say it.
fn natural(types: &Types, of: &Type) -> Option<Kind> {
    match of {
        Type::Int(int) => Kind::integer(int.size(), int.is_signed()),
        Type::Enum(values) => Kind::integer(values.size(), values.is_signed()),
        Type::Enum64(values) => Kind::integer(values.size(), values.is_signed()),
        Type::Ptr(_) if types.target(of).is_some_and(|to| is_character(&to)) => Some(Kind::String),
        Type::Ptr(_) => Some(Kind::U64),
        Type::Array(_) => types.element(of).filter(is_character).map(|_| Kind::Text),
        _ => None,
    }
}

fn is_character(of: &Type) -> bool {
    matches!(of, Type::Int(int) if int.size() == 1)
}

fn there_are(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{}`", name.as_ref())).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        _ if names.is_empty() => "there are none".to_owned(),
        0 => format!("there are {}", quoted.join(", ")),
        more => format!("there are {} and {more} more", quoted.join(", ")),
    }
}
