//! System calls of Linux: their names by number, and the path that each works on.

mod descriptors;
mod names;
mod paths;

pub use descriptors::{Call, Descriptors};
pub use names::{name_of, CallTable};
pub use paths::path_argument;
