//! The kernel's file systems, which every userspace expects.

use std::ffi::CStr;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{mount, MountFlags};

use crate::error::{Context, Result};

/// Where the kernel's file systems are, in the order in which they are mounted and moved.
pub const KERNEL_MOUNTS: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// The environment's word for it, which the kernel's command line gives: proc and sysfs come after the ready mark only.
const WORD: &str = "firstlight_mounts";

/// Whether proc and sysfs shall be mounted for the report only.
pub fn late() -> bool {
    std::env::var_os(WORD).is_some_and(|value| value == "late")
}

/// Mounts proc, sysfs, devtmpfs and a tmpfs for `/run`.
pub fn mount_kernel_file_systems() -> Result<()> {
    mount_proc_and_sysfs()?;
    mount_devices_and_run()
}

/// Mounts proc and sysfs.
pub fn mount_proc_and_sysfs() -> Result<()> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount_one("proc", "/proc", plain, None)?;
    mount_one("sysfs", "/sys", plain, None)
}

/// Mounts devtmpfs and a tmpfs for `/run`.
pub fn mount_devices_and_run() -> Result<()> {
    mount_one("devtmpfs", "/dev", MountFlags::NOSUID, Some(c"mode=0755"))?;
    // Not `noexec`: the helper itself is executed from here once the root is switched.
    mount_one("tmpfs", "/run", MountFlags::NOSUID | MountFlags::NODEV, Some(c"mode=0755"))
}

/// A kernel with CONFIG_DEVTMPFS_MOUNT has mounted `/dev` already; that is as good.
fn mount_one(kind: &'static str, target: &'static str, flags: MountFlags, data: Option<&CStr>) -> Result<()> {
    if !Path::new(target).exists() {
        std::fs::create_dir(target).context("create", target)?;
    }
    match mount(kind, target, kind, flags, data) {
        Ok(()) | Err(Errno::BUSY) => Ok(()),
        Err(error) => Err(error).context("mount", target),
    }
}
