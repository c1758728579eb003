//! What a profile is made of: the kernel's symbols, shadow stacks that follow a boot's control flow,
//! the calling-context tree they grow, and the tables that are read off it.
//!
//! The plugin feeds [`Tracker`] with events and writes a [`snapshot`](snapshot::Snapshot) of it; everything else reads that file
//! as a [`Recording`].

pub mod code;
pub mod difference;
pub mod fold;
pub mod folding;
pub mod initcall_table;
pub mod initcalls;
pub mod instant;
pub mod kd;
pub mod recording;
pub mod slices;
pub mod snapshot;
pub mod symbols;
pub mod tracker;
pub mod tree;
pub mod turns;
pub mod userspace;

pub use firstlight_isa as isa;
pub use firstlight_isa::Class;
pub use recording::Recording;
pub use symbols::SymbolTable;
pub use tracker::Tracker;
pub use tree::{CallTree, Kind, NodeId};
