//! The QEMU TCG plugin: follows a guest's control flow from outside and writes its profile.
//!
//! QEMU calls it on one thread, on which virtual processors take turns; it speaks to the rest of Firstlight by files only
//! (`docs/reference/formats/plugin.md`). Unsafe code is confined to [`api`], [`clock`],
//! [`install`], [`prefetch`] and [`shared`].

mod api;
mod asks;
mod btf;
mod callbacks;
mod clock;
mod config;
mod console;
mod copies;
mod current_task;
mod entry_points;
mod guest_memory;
mod install;
mod kernel_memory;
mod layout;
mod linkage;
mod linked;
mod loader;
mod loader_code;
mod parts;
mod paths;
mod prefetch;
mod processes;
mod prototype;
mod session;
mod shared;
mod status;
mod translate;
mod turn;
mod types;
mod user_code;
