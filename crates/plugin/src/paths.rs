//! Paths of files, out of the kernel's directory entries and mounts.

use crate::kernel_memory::KernelMemory;
use crate::layout::Layout;

const DEEPEST_PATH: usize = 64;
const NAME_BYTES: usize = 256;

/// The path of a directory entry within a mount: up the directories and, at the root of each file system, on to where it is
/// mounted (`d_path`).
pub fn path(memory: &KernelMemory, layout: &Layout, dentry: u64, mount: u64) -> Option<String> {
    let word = |address: u64, offset: u64| memory.word(address.wrapping_add(offset));
    let (mut dentry, mut inner) = (dentry, mount);
    let mut names = Vec::new();
    for _ in 0..DEEPEST_PATH {
        if dentry == word(inner, layout.inner_root)? {
            let mount = inner.wrapping_sub(layout.mount_inner);
            let parent = word(mount, layout.mount_parent)?;
            if parent == mount {
                break;
            }
            dentry = word(mount, layout.mount_point)?;
            inner = parent.wrapping_add(layout.mount_inner);
            continue;
        }
        let parent = word(dentry, layout.dentry_parent)?;
        if parent == dentry {
            break;
        }
        names.push(name(memory, layout, dentry)?);
        dentry = parent;
    }
    Some(joined(names))
}

/// The name of a directory entry.
pub fn name(memory: &KernelMemory, layout: &Layout, dentry: u64) -> Option<String> {
    memory.text(memory.word(dentry.wrapping_add(layout.dentry_name))?, NAME_BYTES)
}

/// The path of a control group (`kernfs_path`).
pub fn control_group(memory: &KernelMemory, layout: &Layout, task: u64) -> Option<String> {
    let set = memory.word(task.wrapping_add(layout.task_cgroups))?;
    let group = memory.word(set.wrapping_add(layout.css_set_cgroup))?;
    let mut node = memory.word(group.wrapping_add(layout.cgroup_node))?;
    let mut names = Vec::new();
    while names.len() < DEEPEST_PATH {
        let parent = memory.word(node.wrapping_add(layout.node_parent))?;
        if parent == 0 {
            break;
        }
        names.push(memory.text(memory.word(node.wrapping_add(layout.node_name))?, NAME_BYTES)?);
        node = parent;
    }
    Some(joined(names))
}

// A path out of its names, the last one first.
fn joined(names: Vec<String>) -> String {
    names.iter().rev().fold(String::new(), |path, name| path + "/" + name)
}
