//! Where the kernel keeps what is read of it: offsets of members, out of the description of its types in its own memory (BTF).

use crate::btf::{described_bytes, Structures, HEADER, HEADER_BYTES};
use crate::kernel_memory::KernelMemory;
use firstlight_isa::{CallNumber, Isa, Userspace};
use firstlight_profile::userspace::Missing;
use firstlight_profile::SymbolTable;
use std::ops::Range;

// A description has a few megabytes.
const LARGEST_BYTES: u64 = 64 << 20;
const WORD_BYTES: u64 = 8;

// Images with their unset data have some tens of megabytes.
const LARGEST_IMAGE: u64 = 1 << 30;
const PIECE_BYTES: u64 = 64 << 10;

/// Offsets of members, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    pub task_pid: u64,
    pub task_tgid: u64,
    pub task_state: u64,
    pub task_mm: u64,
    pub task_cgroups: u64,
    pub css_set_cgroup: u64,
    pub cgroup_node: u64,
    pub node_name: u64,
    pub node_parent: u64,
    pub mm_file: u64,
    pub mm_arguments: u64,
    pub mm_arguments_end: u64,
    pub file_path: u64,
    pub path_mount: u64,
    pub path_dentry: u64,
    pub dentry_name: u64,
    pub dentry_parent: u64,
    pub mount_inner: u64,
    pub mount_parent: u64,
    pub mount_point: u64,
    pub inner_root: u64,
    /// Of the caller's registers: the arguments of its system call, and the result.
    pub arguments: [u64; 6],
    pub result: u64,
    /// Its number; nothing where that is an argument.
    pub number: Option<u64>,
    /// What code is found in files by; nothing where the kernel lacks some of it.
    pub pages: Option<PageLayout>,
}

/// Offsets of members on the way from a page to its file.
#[derive(Debug, Clone, Copy)]
pub struct PageLayout {
    pub mm_table: u64,
    pub page_bytes: u64,
    pub page_head: u64,
    pub page_mapping: u64,
    pub page_index: u64,
    pub mapping_inode: u64,
    pub inode_mapping: u64,
    pub inode_number: u64,
    pub inode_generation: u64,
    pub inode_size: u64,
    pub inode_links: u64,
    pub inode_super: u64,
    pub inode_entries: u64,
    pub dentry_alias: u64,
    pub super_mounts: u64,
    /// Where a mount is chained to those of its file system; 0 where the chain points to the mount itself.
    pub mount_instance: u64,
    pub vdso_data: Option<u64>,
    pub vdso_size: Option<u64>,
    pub mm_vdso: Option<u64>,
}

impl Layout {
    /// Reads them out of the running kernel.
    ///
    /// # Errors
    ///
    /// [`Missing::Types`] where the kernel has no description, [`Missing::Members`] where it lacks something.
    pub fn read<I: Isa>(
        memory: &KernelMemory,
        symbols: &SymbolTable<I>,
        userspace: &Userspace,
    ) -> Result<Self, Missing> {
        let bytes = description(memory, symbols).ok_or(Missing::Types)?;
        let structures = Structures::read(&bytes).ok_or(Missing::Types)?;
        Members(&structures).layout(userspace).ok_or(Missing::Members)
    }
}

/// The kernel's description of its types, as it stands in memory; nothing where it has none.
pub fn description<I: Isa>(memory: &KernelMemory, symbols: &SymbolTable<I>) -> Option<Vec<u8>> {
    match symbols.address("__start_BTF").zip(symbols.address("__stop_BTF")) {
        Some((start, end)) => {
            let length = end.checked_sub(start).filter(|length| (1..LARGEST_BYTES).contains(length))?;
            let mut bytes = vec![0; length as usize];
            memory.read(start, &mut bytes).then_some(bytes)
        }
        None => memory.image().and_then(|image| within(memory, image)),
    }
}

// Distributions leave the symbols of data out: the description is found by its header (`Documentation/bpf/btf.rst`, `struct
// btf_header`). The image is looked through in pieces: all of it at once would be memory that a recording has no other use for.
fn within(memory: &KernelMemory, image: &Range<u64>) -> Option<Vec<u8>> {
    image.end.checked_sub(image.start).filter(|length| (1..LARGEST_IMAGE).contains(length))?;
    let mut piece = vec![0; PIECE_BYTES as usize + HEADER_BYTES];
    let mut start = image.start;
    while start < image.end {
        let length = (image.end - start).min(piece.len() as u64) as usize;
        let piece = piece.get_mut(..length)?;
        memory.read_physical(start, piece);
        for at in memchr::memmem::find_iter(piece, &HEADER) {
            // One that is cut here begins the next piece.
            let header = piece.get(at..).filter(|_| at as u64 % 4 == 0 && (at as u64) < PIECE_BYTES);
            if let Some(bytes) = header.and_then(|header| whole(memory, image, start + at as u64, header)) {
                return Some(bytes);
            }
        }
        start += PIECE_BYTES;
    }
    None
}

// The description with this header, at this physical address.
fn whole(memory: &KernelMemory, image: &Range<u64>, start: u64, header: &[u8]) -> Option<Vec<u8>> {
    let length = described_bytes(header)? as u64;
    image.end.checked_sub(start).filter(|rest| length <= *rest && length < LARGEST_BYTES)?;
    let mut bytes = vec![0; length as usize];
    memory.read_physical(start, &mut bytes);
    Structures::read(&bytes).is_some().then_some(bytes)
}

struct Members<'s, 'b>(&'s Structures<'b>);

impl Members<'_, '_> {
    fn layout(&self, userspace: &Userspace) -> Option<Layout> {
        let [task, mm, file, dentry, mount] = ["task_struct", "mm_struct", "file", "dentry", "mount"];
        let mut arguments = [0; 6];
        let register = |(name, index): (&str, u64)| Some(self.0.offset("pt_regs", &[name])? + index * WORD_BYTES);
        for (place, member) in arguments.iter_mut().zip(userspace.arguments) {
            *place = register(member)?;
        }
        let number = match userspace.number {
            CallNumber::Argument => None,
            CallNumber::Member(member) => Some(register(member)?),
        };
        Some(Layout {
            task_pid: self.0.offset(task, &["pid"])?,
            task_tgid: self.0.offset(task, &["tgid"])?,
            task_state: self.either(task, "__state", "state")?,
            task_mm: self.0.offset(task, &["mm"])?,
            task_cgroups: self.0.offset(task, &["cgroups"])?,
            css_set_cgroup: self.0.offset("css_set", &["dfl_cgrp"])?,
            cgroup_node: self.0.offset("cgroup", &["kn"])?,
            node_name: self.0.offset("kernfs_node", &["name"])?,
            node_parent: self.either("kernfs_node", "parent", "__parent")?,
            mm_file: self.0.offset(mm, &["exe_file"])?,
            mm_arguments: self.0.offset(mm, &["arg_start"])?,
            mm_arguments_end: self.0.offset(mm, &["arg_end"])?,
            file_path: self.either(file, "f_path", "__f_path")?,
            path_mount: self.0.offset("path", &["mnt"])?,
            path_dentry: self.0.offset("path", &["dentry"])?,
            dentry_name: self.either_of(dentry, &[&["d_name", "name"], &["__d_name", "name"]])?,
            dentry_parent: self.0.offset(dentry, &["d_parent"])?,
            mount_inner: self.0.offset(mount, &["mnt"])?,
            mount_parent: self.0.offset(mount, &["mnt_parent"])?,
            mount_point: self.0.offset(mount, &["mnt_mountpoint"])?,
            inner_root: self.0.offset("vfsmount", &["mnt_root"])?,
            arguments,
            result: register(userspace.result)?,
            number,
            pages: self.pages(),
        })
    }

    fn pages(&self) -> Option<PageLayout> {
        Some(PageLayout {
            mm_table: self.0.offset("mm_struct", &["pgd"])?,
            page_bytes: self.0.bytes("page")?,
            page_head: self.either("page", "compound_head", "compound_info")?,
            page_mapping: self.0.offset("page", &["mapping"])?,
            page_index: self.either("page", "index", "__folio_index")?,
            mapping_inode: self.0.offset("address_space", &["host"])?,
            inode_mapping: self.0.offset("inode", &["i_mapping"])?,
            inode_number: self.0.offset("inode", &["i_ino"])?,
            inode_generation: self.0.offset("inode", &["i_generation"])?,
            inode_size: self.0.offset("inode", &["i_size"])?,
            inode_links: self.either("inode", "i_nlink", "__i_nlink")?,
            inode_super: self.0.offset("inode", &["i_sb"])?,
            inode_entries: self.0.offset("inode", &["i_dentry"])?,
            dentry_alias: self.either_of("dentry", &[&["d_u", "d_alias"], &["d_alias"]])?,
            super_mounts: self.0.offset("super_block", &["s_mounts"])?,
            mount_instance: self.0.offset("mount", &["mnt_instance"]).unwrap_or(0),
            vdso_data: self.0.offset("vdso_image", &["data"]),
            vdso_size: self.0.offset("vdso_image", &["size"]),
            mm_vdso: self.0.offset("mm_struct", &["context", "vdso"]),
        })
    }

    // A member that newer kernels have renamed.
    fn either(&self, structure: &str, old: &str, new: &str) -> Option<u64> {
        self.either_of(structure, &[&[old], &[new]])
    }

    fn either_of(&self, structure: &str, paths: &[&[&str]]) -> Option<u64> {
        paths.iter().find_map(|path| self.0.offset(structure, path))
    }
}
