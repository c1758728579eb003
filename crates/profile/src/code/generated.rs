//! Code that the kernel generates while it runs: BPF programs, trampolines of ftrace, instruction slots of kprobes.

use super::memory::{is_kernel, is_page, members, text_in, word_at, Memory};
use std::ops::Range;

/// What a range of generated code is called, and the member of the kernel's list that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Generated {
    pub range: Range<u64>,
    pub name: String,
    pub module: &'static str,
    pub node: u64,
}

/// The module under which `/proc/kallsyms` lists BPF programs; the others follow its manner.
pub(super) const BPF: &str = "bpf";
const LARGEST_PROGRAM: u64 = 1 << 24;
/// `KSYM_NAME_LEN`: 512 from Linux 6.1 on.
const NAME_BYTES: [u64; 3] = [512, 128, 256];
/// `BPF_PROG_PACK_SIZE` on one node.
const PACK_BYTES: u64 = 2 << 20;
const PAGE_BYTES: u64 = 4096;
const CACHE_BYTES: usize = 256;

/// BPF programs and trampolines that have a symbol (`struct bpf_ksym`: start, end, name, links).
pub(super) fn programs<M: Memory>(head: u64, memory: &M) -> Vec<Generated> {
    let program = |node: u64| {
        NAME_BYTES.iter().find_map(|length| {
            let symbol = memory.bytes(node.checked_sub(16 + length)?, 16 + *length as usize)?;
            let (start, end) = (word_at(&symbol, 0), word_at(&symbol, 8));
            let name = text_in(symbol.get(16..)?).filter(|name| name.starts_with("bpf_"))?;
            let right = is_kernel::<M>(start) && start < end && end - start <= LARGEST_PROGRAM;
            right.then(|| Generated { range: start..end, name: name.to_owned(), module: BPF, node })
        })
    };
    members(head, memory).into_iter().filter_map(program).collect()
}

/// Memory that holds nothing but BPF programs (`struct bpf_prog_pack`: links, pointer). Those that were once filters of the
/// classic kind, such as seccomp's, have no symbol.
pub(super) fn packs<M: Memory>(head: u64, memory: &M) -> Vec<Generated> {
    let pack = |node: u64| {
        let start = memory.word(node.checked_add(16)?).filter(|start| is_page::<M>(*start))?;
        Some(Generated { range: start..start + PACK_BYTES, name: "[bpf program]".to_owned(), module: BPF, node })
    };
    members(head, memory).into_iter().filter_map(pack).collect()
}

/// Trampolines of ftrace (`struct ftrace_ops`: trampoline, its size, links).
pub(super) fn trampolines<M: Memory>(head: u64, memory: &M) -> Vec<Generated> {
    let trampoline = |node: u64| {
        let bytes = memory.bytes(node.checked_sub(16)?, 16)?;
        let (start, size) = (word_at(&bytes, 0), word_at(&bytes, 8));
        let right = is_kernel::<M>(start) && (1..=LARGEST_PROGRAM).contains(&size);
        let name = "[ftrace trampoline]".to_owned();
        right.then(|| Generated { range: start..start + size, name, module: "ftrace", node })
    };
    members(head, memory).into_iter().filter_map(trampoline).collect()
}

/// Pages of instructions that kprobes stepped out of their place (`struct kprobe_insn_page`: links, page, and a pointer back
/// to the cache at `cache`).
pub(super) fn slots<M: Memory>(cache: u64, memory: &M) -> Vec<Generated> {
    let Some(bytes) = memory.bytes(cache, CACHE_BYTES) else { return Vec::new() };
    let is_page_of_cache = |node: u64| memory.word(node.wrapping_add(24)) == Some(cache);
    let head = (0..CACHE_BYTES as u64).step_by(8).find(|offset| {
        let next = word_at(&bytes, *offset as usize);
        is_kernel::<M>(next) && next != cache.wrapping_add(*offset) && is_page_of_cache(next)
    });
    let slot = |node: u64| {
        let start =
            memory.word(node.checked_add(16)?).filter(|start| is_page::<M>(*start) && is_page_of_cache(node))?;
        let name = "[kprobe slot]".to_owned();
        Some(Generated { range: start..start + PAGE_BYTES, name, module: "kprobes", node })
    };
    head.map(|offset| members(cache + offset, memory)).unwrap_or_default().into_iter().filter_map(slot).collect()
}

/// First and last member of a list: they change when one is added.
pub(super) fn ends(head: u64, memory: &impl Memory) -> (u64, u64) {
    let bytes = memory.bytes(head, 16).unwrap_or_default();
    (word_at(&bytes, 0), word_at(&bytes, 8))
}
