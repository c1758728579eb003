//! What instructions are executed for: user mode, the kernel, interrupts.

use crate::tree::Kind;
use crate::userspace::Spent;

/// What the running task's instructions are executed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    #[default]
    Kernel,
    User,
    Interrupt,
}

impl Mode {
    /// Where what runs is named by this kind of entry from this mode.
    pub(super) fn of_entry(self, kind: Kind) -> Self {
        match (kind, self) {
            (Kind::Interrupt, _) | (Kind::Exception, Self::Interrupt) => Self::Interrupt,
            _ => Self::Kernel,
        }
    }
}

/// What was spent between two sums.
pub(super) fn since(before: Spent, now: Spent) -> Spent {
    Spent {
        user: now.user - before.user,
        kernel: now.kernel - before.kernel,
        interrupts: now.interrupts - before.interrupts,
    }
}
