//! The function of a mark of the guest's.

/// Defines the function of one mark, which is one instruction: there is no intrinsic for a no-operation with chosen bytes.
///
/// `mark_function!(NAME, OPERAND = VALUE, TEMPLATE, ...)`: lines of assembly with one constant in them.
macro_rules! mark_function {
    ($name:ident, $operand:ident = $value:expr, $($template:literal),+) => {
        #[inline(never)]
        #[expect(unsafe_code, reason = "a mark is one instruction, and only inline assembly can choose its bytes")]
        pub(crate) fn $name() {
            // SAFETY: the instruction is a no-operation: it touches neither memory, nor registers, nor flags, nor the
            // stack. Without `nomem` the compiler keeps everything that was done before the mark before it.
            unsafe {
                core::arch::asm!($($template,)+ $operand = const $value, options(nostack, preserves_flags));
            }
        }
    };
}

pub(crate) use mark_function;
