//! The trait that an architecture implements.

use crate::{Class, Flow, Linked, Userspace};
use std::fmt::Debug;

/// A section of code that passes control on and holds no functions.
#[derive(Debug, Clone, Copy)]
pub struct ThunkSection {
    /// The symbols at its start and its end.
    pub bounds: (&'static str, &'static str),
    /// Two of its functions, for kernels without the bounds: the section is what lies from one to the other.
    pub ends: Option<(&'static str, &'static str)>,
}

/// Code of the kernel's that runs at an address of its own, which its list of symbols leaves out.
#[derive(Debug, Clone, Copy)]
pub struct FixedCode {
    /// What it is called.
    pub name: &'static str,
    /// Its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// How control passes through it.
    pub class: Class,
}

/// A processor architecture.
///
/// A shadow stack names each frame by its *frame key*. Where a call pushes its return address, that is the address at which it
/// stands: keys fall as calls nest, and the call and its return both show the key, as the address of a memory access. Where a
/// call leaves its return address in a register ([`Linked`]), the stack pointer and that address are the key.
///
/// ```
/// use firstlight_isa::{Flow, Isa, X86_64};
/// fn is_call<I: Isa>(bytes: &[u8]) -> bool {
///     matches!(I::flow(bytes, 0), Flow::Call(_) | Flow::CallIndirect)
/// }
/// assert!(is_call::<X86_64>(&[0xe8, 0, 0, 0, 0]));
/// ```
pub trait Isa: Debug + Clone + Copy + Default + Send + Sync + 'static {
    /// QEMU's name of the target.
    const NAME: &'static str;

    /// Bytes of the longest instruction.
    const LONGEST_INSTRUCTION: u64 = 4;
    /// Bytes of a mark. Instructions of user mode with other sizes are not decoded.
    const MARK_BYTES: usize = 4;
    /// Bytes of the landing pad at the start of a function: `endbr64`, `bti c`, `lpad`. A direct call may skip it.
    const LANDING_PAD_BYTES: u64 = 4;
    /// Bytes of the instruction behind a jump, branch or call that is executed before control moves; zero where there is none.
    const DELAY_SLOT_BYTES: u64 = 0;
    /// Bytes in front of a function's local entry, which calls within one module go to; zero where functions have one entry.
    const LOCAL_ENTRY_BYTES: u64 = 0;

    /// The symbols at the start and the end of the kernel's entry code.
    const ENTRY_BOUNDS: (&'static str, &'static str) = ("__entry_text_start", "__entry_text_end");
    /// Sections of thunks.
    const THUNKS: &'static [ThunkSection] = &[];
    /// Symbols within functions, which are not functions of their own.
    const INSIDE: &'static [&'static str] = &[];
    /// How the names of padding in front of functions begin.
    const PADDING: &'static [&'static str] = &["__pfx_", "__cfi_"];
    /// Bytes of the largest padding in front of a function.
    const PADDING_BYTES: u64 = 64;
    /// Functions that the kernel calls before it returns to user mode. Each way out calls one of them; kernels differ in which
    /// exist.
    const WAYS_OUT: &'static [&'static str];
    /// Names of the per-CPU variable that holds the running task; the first that exists counts. None where a register holds it.
    const CURRENT_TASK: &'static [&'static str] = &[];

    /// Entries of exceptions that jump to another entry where they do not serve the exception: both belong to the first.
    const GOES_ON: &'static [(&'static str, &'static str)] = &[];

    /// Bytes of a kernel stack: a power of two, to which the stack is aligned.
    const STACK_BYTES: u64;
    /// Bytes from the frame key of the function that switches tasks down to all registers that it saves.
    const SWITCH_FRAME_BYTES: u64 = 0;
    /// Distance of the frame keys of two calls with nothing on the stack between them.
    const RETURN_SLOT_BYTES: u64 = 0;

    /// The lowest address of the kernel's half.
    const KERNEL_HALF: u64;
    /// The upper twelve of 64 bits of every address of the kernel's code.
    const UPPER_BITS: u64 = 0xfff;
    /// Where the kernel's image is mapped, less where it lies in memory; nothing where that differs between kernels, and
    /// [`Self::image_entry`] says it.
    const IMAGE_OFFSET: Option<u64> = None;
    /// Names of the symbol where the image is entered; the first that exists counts.
    const IMAGE_ENTRY: &'static [&'static str];
    /// The physical address to which the kernel copies its image before it maps itself.
    const COPIED_TO: Option<u64> = None;
    /// Physical address of the decompressor's first instruction, where the kernel's file has one.
    const DECOMPRESSOR: Option<u64> = None;

    /// Whether the kernel's image is entered at the addresses at which it is mapped. What runs before it has such addresses, too.
    const ENTERED_MAPPED: bool = false;

    /// Where the area of modules begins, where nothing of the image can lie from there on; nothing where only the image's size says that.
    const MODULES_FROM: Option<u64> = None;

    /// Code at addresses of its own, in their order and behind all of the image.
    const FIXED: &'static [FixedCode] = &[];

    /// Bytes of a pointer.
    const WORD_BYTES: usize = 8;

    /// How calls and switches of tasks are seen, where a call leaves its return address in a register.
    const LINKED: Option<&'static Linked> = None;

    /// The border of user mode; nothing where processes are not followed.
    const USERSPACE: Option<&'static Userspace> = None;

    /// Says what the instruction of these bytes, at this address, does.
    ///
    /// No instruction begins with the whole of another one, so bytes that were cut are recognised as such
    /// ([`Flow::Incomplete`]).
    fn flow(bytes: &[u8], address: u64) -> Flow;

    /// Where a call goes whose instruction takes the address from the one in front of it, which computes it from its own place,
    /// `address`: the two make one call.
    fn far_call(_front: &[u8], _call: &[u8], _address: u64) -> Option<u64> {
        None
    }

    /// Whether this call leaves its return address in another register than that of [`Linked`]: what follows a function's entry
    /// is called so at its beginning.
    fn links_elsewhere(_call: &[u8]) -> bool {
        false
    }

    /// Whether a function that begins with these bytes has a local entry behind the first [`Self::LOCAL_ENTRY_BYTES`] of them.
    fn has_local_entry(_bytes: &[u8]) -> bool {
        false
    }

    /// Whether these bytes are whole instructions that control runs through from the first to behind the last.
    fn runs_through(bytes: &[u8]) -> bool;

    /// How control passes through the kernel's function of this name, where the name says so.
    fn class(symbol: &str) -> Option<Class>;

    /// The same of a symbol in the entry code, by names that elsewhere say nothing.
    fn entry_class(_symbol: &str) -> Option<Class> {
        None
    }

    /// The physical address of [`Self::IMAGE_ENTRY`], if these bytes at this address are the head of a kernel's image.
    fn image_entry(_head: &[u8], _address: u64) -> Option<u64> {
        None
    }

    /// Whether these bytes begin the decompressor, where the kernel's file may have one anywhere. There are as many of them as for
    /// [`Self::image_entry`].
    fn begins_decompressor(_head: &[u8]) -> bool {
        false
    }

    /// Where the code at this address of the kernel's, outside its image, is among [`Self::FIXED`]: code that the kernel puts where it
    /// likes.
    fn fixed_at(_address: u64) -> Option<u64> {
        None
    }

    /// How many bytes of memory an image with this head takes, its unset data included.
    fn image_bytes(_head: &[u8]) -> Option<u64> {
        None
    }

    /// Whether code at this address is the kernel's, once it has mapped itself.
    fn is_kernel_code(address: u64) -> bool {
        address >= Self::KERNEL_HALF
    }
}
