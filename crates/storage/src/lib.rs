//! The storage plugin: a virtio disk whose requests take as long as a model says, on the guest's clock.
//!
//! `docs/design/storage.md` says how. QEMU loads this next to the recorder's plugin, with which it shares no state.
//! Unsafe code is confined to [`emulator`] and [`plugin`].

pub mod config;
pub mod emulator;
pub mod model;
mod plugin;
pub mod queue;
pub mod stores;
