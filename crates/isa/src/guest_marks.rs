//! The functions of the marks that a guest gives.

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

/// Defines `ready`, which gives the mark at which the recorded boot ends.
///
/// `ready_function!(OPERAND = VALUE, [TEMPLATE, ...], [REGISTER => COUNT: TYPE, ...], NANOSECONDS)`: lines of assembly with the
/// mark's constant in them, of which the last one reads the counter into the registers, and the counter in nanoseconds.
macro_rules! ready_function {
    (
        $operand:ident = $value:expr, [$($template:literal),+], [$($register:tt => $count:ident: $kind:ty),+], $ns:expr
    ) => {
        /// Gives the mark at which the recorded boot ends, and returns the counter one instruction after it, in nanoseconds.
        ///
        /// Where QEMU counts instructions, that is the virtual time from power on, rounded down to one period of the counter: a
        /// boot without profile knows no other.
        #[inline(never)]
        #[expect(
            unsafe_code,
            reason = "the mark and the reading have to be neighbours, and only inline assembly keeps them so"
        )]
        pub fn ready() -> u64 {
            $(let $count: $kind;)+
            // SAFETY: a no-operation, and an instruction that reads a counter into the registers named; user mode may read it.
            // The registers are chosen, so that the bytes of the mark and the reading are the same in every build.
            unsafe {
                core::arch::asm!(
                    $($template,)+
                    $operand = const $value,
                    $(out($register) $count,)+
                    options(nostack, preserves_flags)
                );
            }
            $ns
        }
    };
}

pub(crate) use {mark_function, ready_function};
