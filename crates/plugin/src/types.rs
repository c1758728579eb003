//! Where the kernel keeps what is read of it: offsets of members, out of the description of its types in its own memory (BTF).

use crate::kernel_memory::KernelMemory;
use btf_rs::{Btf, BtfType, Type};
use firstlight_isa::{CallNumber, Isa, Userspace};
use firstlight_profile::userspace::Missing;
use firstlight_profile::SymbolTable;
use std::ops::Range;

// A description has a few megabytes.
const LARGEST_BYTES: u64 = 64 << 20;
const WORD_BYTES: u64 = 8;

// Images with their unset data have some tens of megabytes.
const LARGEST_IMAGE: u64 = 1 << 30;

// A description's header: its sign, version 1, no flags, and its own length. It goes on with where types and texts begin behind it, and how
// long they are.
const HEADER: [u8; 8] = [0x9f, 0xeb, 1, 0, 24, 0, 0, 0];

// The description of types that these bytes begin with.
fn described(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(&HEADER)?;
    let half = |at: usize| Some(u32::from_le_bytes(rest.get(at..at + 4)?.try_into().ok()?) as usize);
    let (types, text, text_length) = (half(0)?, half(8)?, half(12)?);
    let is_whole = types == 0 && text > 0 && text_length > 0;
    is_whole.then(|| bytes.get(..HEADER.len() + 16 + text + text_length))?
}

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
        Types::read(memory, symbols)?.layout(userspace).ok_or(Missing::Members)
    }
}

/// The kernel's description of its types.
pub struct Types(Btf);

impl Types {
    /// Reads it out of the running kernel.
    ///
    /// # Errors
    ///
    /// [`Missing::Types`] where the kernel has none.
    pub fn read<I: Isa>(memory: &KernelMemory, symbols: &SymbolTable<I>) -> Result<Self, Missing> {
        match symbols.address("__start_BTF").zip(symbols.address("__stop_BTF")) {
            Some((start, end)) => Self::between(memory, start, end),
            None => memory.image().and_then(|image| Self::within(memory, image)),
        }
        .ok_or(Missing::Types)
    }

    fn between(memory: &KernelMemory, start: u64, end: u64) -> Option<Self> {
        let length = end.checked_sub(start).filter(|length| (1..LARGEST_BYTES).contains(length))?;
        let mut bytes = vec![0; length as usize];
        memory.read(start, &mut bytes).then_some(())?;
        Btf::from_bytes(&bytes).map(Self).ok()
    }

    // Distributions leave the symbols of data out: the description is found by its header (`Documentation/bpf/btf.rst`, `struct
    // btf_header`).
    fn within(memory: &KernelMemory, image: &Range<u64>) -> Option<Self> {
        let length = image.end.checked_sub(image.start).filter(|length| (1..LARGEST_IMAGE).contains(length))?;
        let mut bytes = vec![0; length as usize];
        memory.read_physical(image.start, &mut bytes);
        let starts = (0..bytes.len()).step_by(4);
        starts.filter_map(|at| described(bytes.get(at..)?)).find_map(|bytes| Btf::from_bytes(bytes).map(Self).ok())
    }

    /// The parameters of a function of the kernel: names and types.
    pub fn parameters(&self, function: &str) -> Option<Vec<(String, Type)>> {
        let is_function = |found: &Type| matches!(found, Type::Func(_));
        let found = self.0.resolve_types_by_name(function).ok()?.into_iter().find(is_function)?;
        let Type::FuncProto(prototype) = self.0.resolve_chained_type(found.as_btf_type()?).ok()? else { return None };
        let parameters = prototype.parameters.iter().filter(|parameter| !parameter.is_variadic());
        parameters.map(|each| Some((self.0.resolve_name(each).ok()?, self.plain_of(each)?))).collect()
    }

    /// What a function of the kernel returns; none for nothing.
    pub fn result(&self, function: &str) -> Option<Type> {
        let is_function = |found: &Type| matches!(found, Type::Func(_));
        let found = self.0.resolve_types_by_name(function).ok()?.into_iter().find(is_function)?;
        let Type::FuncProto(prototype) = self.0.resolve_chained_type(found.as_btf_type()?).ok()? else { return None };
        let result = self.plain(self.0.resolve_type_by_id(prototype.return_type_id()).ok()?)?;
        (!matches!(result, Type::Void)).then_some(result)
    }

    /// What a pointer points to.
    pub fn target(&self, pointer: &Type) -> Option<Type> {
        self.plain_of(pointer.as_btf_type()?)
    }

    /// What an array consists of.
    pub fn element(&self, array: &Type) -> Option<Type> {
        self.plain_of(array.as_btf_type()?)
    }

    /// The names of a structure's members, also of those inside members without a name.
    pub fn members(&self, of: &Type) -> Vec<String> {
        let (Type::Struct(structure) | Type::Union(structure)) = of else { return Vec::new() };
        let mut names = Vec::new();
        for member in &structure.members {
            match self.0.resolve_name(member).unwrap_or_default() {
                name if name.is_empty() => {
                    names.extend(self.plain_of(member).into_iter().flat_map(|inner| self.members(&inner)));
                }
                name => names.push(name),
            }
        }
        names
    }

    fn plain_of<T: BtfType + ?Sized>(&self, of: &T) -> Option<Type> {
        self.plain(self.0.resolve_chained_type(of).ok()?)
    }

    fn layout(&self, userspace: &Userspace) -> Option<Layout> {
        let [task, mm, file, dentry, mount] = ["task_struct", "mm_struct", "file", "dentry", "mount"];
        let mut arguments = [0; 6];
        let register = |(name, index): (&str, u64)| Some(self.offset("pt_regs", &[name])? + index * WORD_BYTES);
        for (place, member) in arguments.iter_mut().zip(userspace.arguments) {
            *place = register(member)?;
        }
        let number = match userspace.number {
            CallNumber::Argument => None,
            CallNumber::Member(member) => Some(register(member)?),
        };
        Some(Layout {
            task_pid: self.offset(task, &["pid"])?,
            task_tgid: self.offset(task, &["tgid"])?,
            task_state: self.either(task, "__state", "state")?,
            task_mm: self.offset(task, &["mm"])?,
            task_cgroups: self.offset(task, &["cgroups"])?,
            css_set_cgroup: self.offset("css_set", &["dfl_cgrp"])?,
            cgroup_node: self.offset("cgroup", &["kn"])?,
            node_name: self.offset("kernfs_node", &["name"])?,
            node_parent: self.either("kernfs_node", "parent", "__parent")?,
            mm_file: self.offset(mm, &["exe_file"])?,
            mm_arguments: self.offset(mm, &["arg_start"])?,
            mm_arguments_end: self.offset(mm, &["arg_end"])?,
            file_path: self.either(file, "f_path", "__f_path")?,
            path_mount: self.offset("path", &["mnt"])?,
            path_dentry: self.offset("path", &["dentry"])?,
            dentry_name: self.either_of(dentry, &[&["d_name", "name"], &["__d_name", "name"]])?,
            dentry_parent: self.offset(dentry, &["d_parent"])?,
            mount_inner: self.offset(mount, &["mnt"])?,
            mount_parent: self.offset(mount, &["mnt_parent"])?,
            mount_point: self.offset(mount, &["mnt_mountpoint"])?,
            inner_root: self.offset("vfsmount", &["mnt_root"])?,
            arguments,
            result: register(userspace.result)?,
            number,
            pages: self.pages(),
        })
    }

    fn pages(&self) -> Option<PageLayout> {
        Some(PageLayout {
            mm_table: self.offset("mm_struct", &["pgd"])?,
            page_bytes: self.bytes("page")?,
            page_head: self.either("page", "compound_head", "compound_info")?,
            page_mapping: self.offset("page", &["mapping"])?,
            page_index: self.either("page", "index", "__folio_index")?,
            mapping_inode: self.offset("address_space", &["host"])?,
            inode_mapping: self.offset("inode", &["i_mapping"])?,
            inode_number: self.offset("inode", &["i_ino"])?,
            inode_generation: self.offset("inode", &["i_generation"])?,
            inode_size: self.offset("inode", &["i_size"])?,
            inode_links: self.either("inode", "i_nlink", "__i_nlink")?,
            inode_super: self.offset("inode", &["i_sb"])?,
            inode_entries: self.offset("inode", &["i_dentry"])?,
            dentry_alias: self.either_of("dentry", &[&["d_u", "d_alias"], &["d_alias"]])?,
            super_mounts: self.offset("super_block", &["s_mounts"])?,
            mount_instance: self.offset("mount", &["mnt_instance"]).unwrap_or(0),
            vdso_data: self.offset("vdso_image", &["data"]),
            vdso_size: self.offset("vdso_image", &["size"]),
            mm_vdso: self.offset("mm_struct", &["context", "vdso"]),
        })
    }

    fn bytes(&self, structure: &str) -> Option<u64> {
        match self.structure(structure)? {
            Type::Struct(found) => Some(found.size() as u64),
            _ => None,
        }
    }

    // A member that newer kernels have renamed.
    fn either(&self, structure: &str, old: &str, new: &str) -> Option<u64> {
        self.either_of(structure, &[&[old], &[new]])
    }

    fn either_of(&self, structure: &str, paths: &[&[&str]]) -> Option<u64> {
        paths.iter().find_map(|path| self.offset(structure, path))
    }

    fn offset(&self, structure: &str, path: &[&str]) -> Option<u64> {
        let mut at = self.structure(structure)?;
        let mut sum = 0;
        for name in path {
            let (offset, member) = self.member(&at, name)?;
            sum += offset;
            at = member;
        }
        Some(sum)
    }

    fn structure(&self, name: &str) -> Option<Type> {
        let is_structure = |found: &Type| matches!(found, Type::Struct(_));
        self.0.resolve_types_by_name(name).ok()?.into_iter().find(is_structure)
    }

    /// A member by its name, also inside members without one: its offset and type.
    pub fn member(&self, of: &Type, wanted: &str) -> Option<(u64, Type)> {
        let (Type::Struct(structure) | Type::Union(structure)) = of else { return None };
        structure.members.iter().find_map(|member| {
            let name = self.0.resolve_name(member).unwrap_or_default();
            let inner = self.plain(self.0.resolve_chained_type(member).ok()?)?;
            let offset = u64::from(member.bit_offset() / 8);
            match name.as_str() {
                "" => self.member(&inner, wanted).map(|(within, found)| (offset + within, found)),
                name => (name == wanted).then_some((offset, inner)),
            }
        })
    }

    // A type behind its other names and qualifiers.
    fn plain(&self, mut of: Type) -> Option<Type> {
        while let Type::Typedef(_) | Type::Const(_) | Type::Volatile(_) | Type::Restrict(_) | Type::TypeTag(_) = of {
            of = self.0.resolve_chained_type(of.as_btf_type()? as &dyn BtfType).ok()?;
        }
        Some(of)
    }
}
