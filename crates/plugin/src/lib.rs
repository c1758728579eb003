//! The QEMU TCG plugin: follows a guest's control flow from outside and writes its profile.
//!
//! QEMU calls it on one thread (one virtual CPU); it speaks to the rest of Firstlight by files only
//! (`docs/reference/formats/plugin.md`). Unsafe code is confined to [`api`], [`clock`],
//! [`install`], [`prefetch`] and [`shared`].

mod api;
mod callbacks;
mod clock;
mod config;
mod console;
mod guest_memory;
mod install;
mod prefetch;
mod session;
mod shared;
mod status;
mod translate;
