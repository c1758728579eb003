//! What file a block of user code stands in: from its page over the page cache to the inode (`struct page` to `struct inode`).
//!
//! No mapping of the process is read. A page of code belongs to one place of one file, whoever runs it, and QEMU translates a page
//! anew when it is written to.

use crate::current_task::CurrentTask;
use crate::kernel_memory::{area, KernelMemory};
use crate::layout::{Layout, PageLayout};
use crate::paths::{name, path};
use firstlight_isa::{Isa, PageArray};
use firstlight_profile::userspace::code::{BlockId, SourceId};
use firstlight_profile::{SymbolTable, Tracker};
use firstlight_schema::CodeKind;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Set in `page->compound_head` of the second and further pages of a larger one.
const TAIL: u64 = 1;
/// Set in `page->mapping` of memory without a file (`PAGE_MAPPING_ANON`), and of pages that a driver moves.
const ANONYMOUS: u64 = 1;
const NO_FILE: u64 = 3;
/// Of the name of a file that `memfd_create` made.
const MEMFD: &str = "memfd:";
/// The code that the kernel gives to every process is never longer.
const LONGEST_VDSO: u64 = 64 << 10;

/// A page of code: what it stands in, and the offset of its first byte there.
#[derive(Debug, Clone, Copy)]
struct Page {
    source: SourceId,
    offset: u64,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy)]
struct Process {
    /// Its page table.
    root: u64,
    /// Where it has the code that the kernel gives to every process, if the kernel says it.
    vdso: Option<u64>,
}

/// What tells a file from another one that has its place in the kernel's memory later.
type File = (u64, u64, u32);

/// Finds what user code stands in.
#[derive(Debug)]
pub struct UserCode {
    memory: KernelMemory,
    current: CurrentTask,
    layout: Layout,
    pages: PageLayout,
    /// The bytes of a page.
    page_bytes: u64,
    /// Where the array of `struct page` begins, and with which physical address.
    array: (u64, u64),
    /// Physical addresses of the code that the kernel gives to every process.
    vdso: Option<Range<u64>>,
    files: FxHashMap<File, SourceId>,
    kinds: FxHashMap<CodeKind, SourceId>,
    /// The process that runs, while it does.
    process: Option<Process>,
    /// The page that was looked for last, while that process runs.
    last: Option<(u64, Page)>,
}

impl UserCode {
    /// None where the kernel lacks what is needed.
    pub fn find<I: Isa>(
        memory: KernelMemory,
        current: CurrentTask,
        layout: &Layout,
        symbols: &SymbolTable<I>,
    ) -> Option<Self> {
        let userspace = I::USERSPACE?;
        let pages = layout.pages?;
        let page_bytes = memory.paging()?.page_bytes();
        let array = match userspace.page_array {
            PageArray::Area(place) => (area(&place, symbols, |at| memory.word(at))?, 0),
            PageArray::Candidates(candidates) => {
                let first = memory.first_mapped()?;
                let sample = memory.root()?.checked_sub(first)? / page_bytes * pages.page_bytes;
                let places = candidates(memory.paging()?, pages.page_bytes);
                (places.into_iter().find(|place| memory.word(place.wrapping_add(sample)).is_some())?, first)
            }
        };
        let image = userspace.vdso.iter().find_map(|name| symbols.address(name));
        let vdso = image.zip(pages.vdso_data.zip(pages.vdso_size)).and_then(|(image, (data, size))| {
            let start = memory.translate(memory.word(image.wrapping_add(data))?)?;
            Some(start..start.wrapping_add(memory.word(image.wrapping_add(size))?))
        });
        Some(Self {
            memory,
            current,
            layout: *layout,
            pages,
            page_bytes,
            array,
            vdso,
            files: FxHashMap::default(),
            kinds: FxHashMap::default(),
            process: None,
            last: None,
        })
    }

    /// Another process may run from here on.
    pub fn forget(&mut self) {
        (self.process, self.last) = (None, None);
    }

    /// Another processor goes on.
    pub fn turn(&mut self, to: u32, running: Option<u64>) {
        self.current.turn(to, running);
        self.forget();
    }

    /// A switch gave the processor to this task.
    pub fn switched(&mut self, task: u64) {
        self.current.switched(task);
    }

    /// The number of the block at this address of the process that runs.
    pub fn block<I: Isa>(&mut self, address: u64, tracker: &mut Tracker<I>) -> BlockId {
        let (virtual_page, within) = (address / self.page_bytes, address % self.page_bytes);
        let known = self.last.filter(|(known, _)| *known == virtual_page).map(|(_, page)| page);
        let page = known.unwrap_or_else(|| {
            let unknown = |code: &mut Self, tracker| Page {
                source: code.kind(CodeKind::Unknown, tracker),
                offset: address - within,
            };
            self.page(address - within, tracker).unwrap_or_else(|| unknown(self, tracker))
        });
        self.last = Some((virtual_page, page));
        tracker.code_block(page.source, page.offset + within)
    }

    fn kind<I: Isa>(&mut self, kind: CodeKind, tracker: &mut Tracker<I>) -> SourceId {
        *self.kinds.entry(kind).or_insert_with(|| tracker.code_source(kind, None, 0))
    }

    fn process(&mut self) -> Option<Process> {
        if self.process.is_none() {
            let word = |at: u64| self.memory.word(at);
            let mm = word(self.current.address(word)?.wrapping_add(self.layout.task_mm)).filter(|mm| *mm != 0)?;
            let vdso = self.pages.mm_vdso.and_then(|at| word(mm.wrapping_add(at))).filter(|vdso| *vdso != 0);
            let root = self.memory.translate(word(mm.wrapping_add(self.pages.mm_table))?)?;
            self.process = Some(Process { root, vdso });
        }
        self.process
    }

    fn page<I: Isa>(&mut self, address: u64, tracker: &mut Tracker<I>) -> Option<Page> {
        let process = self.process()?;
        let physical = self.memory.walk_from(process.root, address)?;
        if let Some(vdso) = self.vdso.clone().filter(|vdso| vdso.contains(&physical)) {
            return Some(Page { source: self.kind(CodeKind::Vdso, tracker), offset: physical - vdso.start });
        }
        let bytes = self.pages.page_bytes;
        let (array, first_page) = self.array;
        let number = physical.checked_sub(first_page)? / self.page_bytes;
        let own = array.wrapping_add(number.wrapping_mul(bytes));
        let head = self.memory.word(own.wrapping_add(self.pages.page_head))?;
        let first = head_of(own, head);
        let mapping = self.memory.word(first.wrapping_add(self.pages.page_mapping))?;
        if mapping & ANONYMOUS != 0 {
            return Some(Page { source: self.kind(CodeKind::Anonymous, tracker), offset: address });
        }
        // A page of the kernel's own.
        let vdso = process.vdso.and_then(|start| address.checked_sub(start)).filter(|at| *at < LONGEST_VDSO);
        if let Some(offset) = vdso.filter(|_| mapping == 0) {
            return Some(Page { source: self.kind(CodeKind::Vdso, tracker), offset });
        }
        let inode = self.memory.word(mapping.wrapping_add(self.pages.mapping_inode))?;
        let back = self.memory.word(inode.wrapping_add(self.pages.inode_mapping))?;
        if mapping & NO_FILE != 0 || back != mapping {
            return None;
        }
        let index = self.memory.word(first.wrapping_add(self.pages.page_index))?;
        let offset = index.wrapping_add(own.wrapping_sub(first) / bytes).wrapping_mul(self.page_bytes);
        Some(Page { source: self.file(inode, tracker)?, offset })
    }

    fn file<I: Isa>(&mut self, inode: u64, tracker: &mut Tracker<I>) -> Option<SourceId> {
        let at = |offset: u64| inode.wrapping_add(offset);
        let number = self.memory.word(at(self.pages.inode_number))?;
        let generation = self.memory.half(at(self.pages.inode_generation))?;
        let key = (inode, number, generation);
        if let Some(known) = self.files.get(&key) {
            return Some(*known);
        }
        let size = self.memory.word(at(self.pages.inode_size))?;
        let has_links = self.memory.half(at(self.pages.inode_links))? != 0;
        let (called, path) = self.called(inode).unwrap_or_default();
        let kind = match (called.starts_with(MEMFD), has_links) {
            (true, _) => CodeKind::Memfd,
            (false, true) => CodeKind::File,
            (false, false) => CodeKind::Deleted,
        };
        let source = tracker.code_source(kind, Some(if kind == CodeKind::Memfd { &called } else { &path }), size);
        self.files.insert(key, source);
        Some(source)
    }

    // The name of a file and its path: by the oldest mount of its file system, the others are made from that.
    fn called(&self, inode: u64) -> Option<(String, String)> {
        let word = |address: u64, offset: u64| self.memory.word(address.wrapping_add(offset));
        let alias = word(inode, self.pages.inode_entries).filter(|alias| *alias != 0)?;
        let dentry = alias.wrapping_sub(self.pages.dentry_alias);
        let own = name(&self.memory, &self.layout, dentry)?;
        let first = word(word(inode, self.pages.inode_super)?, self.pages.super_mounts)?;
        let mount = first.wrapping_sub(self.pages.mount_instance);
        let inner = mount.wrapping_add(self.layout.mount_inner);
        let path = path(&self.memory, &self.layout, dentry, inner).unwrap_or_else(|| own.clone());
        Some((own, path))
    }
}

// The first page of a larger one (`_compound_head` in include/linux/page-flags.h). A tail has the address of the head, or, in newer
// kernels, a mask that takes its own address to that of the head: ones down to the size of the descriptors of the larger page.
fn head_of(own: u64, info: u64) -> u64 {
    let word = info & !TAIL;
    match () {
        () if info & TAIL == 0 => own,
        () if word.leading_ones() + word.trailing_zeros() == u64::BITS => own & word,
        () => word,
    }
}

#[cfg(test)]
mod tests {
    use super::head_of;

    #[test]
    fn a_page_that_is_no_tail_is_its_own_head() {
        assert_eq!(head_of(0xffff_ea00_0000_0040, 0), 0xffff_ea00_0000_0040);
    }

    #[test]
    fn a_tail_has_the_address_of_its_head_or_the_mask_that_leads_there() {
        assert_eq!(head_of(0xffff_ea00_0000_10c0, 0xffff_ea00_0000_1001), 0xffff_ea00_0000_1000);
        assert_eq!(head_of(0xffff_ea00_0000_10c0, 0xffff_ffff_ffff_ff01), 0xffff_ea00_0000_1000);
        assert_eq!(head_of(0xffff_ea00_0000_8040, 0xffff_ffff_ffff_8001), 0xffff_ea00_0000_8000);
    }
}
