//! From the initramfs to the image: wait for its device, mount it, move the kernel's file systems.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::mount::{mount, mount_move, MountFlags};
use rustix::process::{chdir, chroot};

use crate::config::Config;
use crate::error::{Context, Error, Result};
use crate::mounts::KERNEL_MOUNTS;
use crate::systemd;
use firstlight_isa::guest::{give, Mark};

const NEW_ROOT: &str = "/newroot";
const WAIT_SECONDS: u64 = 30;
const POLL: Duration = Duration::from_millis(1);

/// Goes into the new root and becomes its init. Returns only when it cannot.
pub fn switch(config: &Config, device: &Path) -> Error {
    match enter(config, device) {
        Ok(()) => {}
        Err(error) => return error,
    }
    give(Mark::SwitchRoot);
    let source = Command::new(&config.init).exec();
    Error::System { action: "execute", path: config.init.clone(), source }
}

fn enter(config: &Config, device: &Path) -> Result<()> {
    wait_for(device)?;
    if !Path::new(NEW_ROOT).exists() {
        fs::create_dir(NEW_ROOT).context("create", NEW_ROOT)?;
    }
    mount(device, NEW_ROOT, config.root_type.as_str(), MountFlags::empty(), None).context("mount", device)?;
    copy_helper()?;
    let command_line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    for point in KERNEL_MOUNTS {
        carry(point)?;
    }
    chdir(NEW_ROOT).context("enter", NEW_ROOT)?;
    mount_move(".", "/").context("move", NEW_ROOT)?;
    chroot(".").context("enter", NEW_ROOT)?;
    chdir("/").context("enter", "/")?;
    if init_is_systemd(&config.init)? && config.unit {
        systemd::prepare(&config.report, &command_line)?;
    }
    Ok(())
}

fn wait_for(device: &Path) -> Result<()> {
    let polls = u128::from(WAIT_SECONDS) * 1000 / POLL.as_millis().max(1);
    for _ in 0..polls {
        if device.exists() {
            return Ok(());
        }
        std::thread::sleep(POLL);
    }
    Err(Error::NoRoot { path: device.to_owned(), seconds: WAIT_SECONDS })
}

fn copy_helper() -> Result<()> {
    let folder = "/run/firstlight";
    fs::create_dir_all(folder).context("create", folder)?;
    fs::copy("/proc/self/exe", systemd::HELPER).context("copy the helper to", systemd::HELPER)?;
    Ok(())
}

/// An image without the mount point gets it, where it can: the root is mounted for writing.
fn carry(point: &str) -> Result<()> {
    let target = PathBuf::from(format!("{NEW_ROOT}{point}"));
    if !target.exists() {
        fs::create_dir(&target).context("create", &target)?;
    }
    mount_move(point, &target).context("move", point)
}

/// Inside the new root. A link that leads nowhere counts as missing.
fn init_is_systemd(init: &Path) -> Result<bool> {
    let real = fs::canonicalize(init).map_err(|_| Error::NoInit { path: init.to_owned() })?;
    Ok(real.file_name().is_some_and(|name| name == "systemd"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_init_is_an_error_of_its_own() {
        let error = init_is_systemd(Path::new("/no/such/init")).unwrap_err();
        assert_eq!(error.to_string(), "the new root has no `/no/such/init`");
    }

    #[test]
    fn an_init_that_is_not_systemd_is_left_alone() {
        assert!(!init_is_systemd(Path::new("/bin/sh")).unwrap());
    }
}
