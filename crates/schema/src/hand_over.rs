//! Phases of userspace, and the names that earlier schema versions gave to phases.

use crate::vocabulary::{Mark, Phase};

/// What the kernel prints before it runs an initramfs.
const RUNS_INITRAMFS: &str = "Run /init ";
/// So begins the detail of a mark that is inferred.
const INFERRED: &str = "inferred: ";
/// The phase of all of userspace before a manager of units reported itself, in schema 1 and 2.
const OLD_USERSPACE: &str = "user_land";

/// How a boot came from its initramfs to its root file system, as far as its marks show it.
///
/// ```
/// use firstlight_schema::hand_over::HandOver;
/// use firstlight_schema::{Mark, Phase};
/// let alone = HandOver::of([(Mark::GuestStart, "")]);
/// assert_eq!(alone.phase(Mark::GuestStart), Some(Phase::Userspace));
/// let both = HandOver::of([(Mark::GuestStart, ""), (Mark::SwitchRoot, "")]);
/// assert_eq!(both.phase(Mark::GuestStart), Some(Phase::Initramfs));
/// assert_eq!(both.phase(Mark::SwitchRoot), Some(Phase::Userspace));
/// assert_eq!([both.present("user_land"), both.present("switch_root")], ["initramfs", "userspace"]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandOver {
    initramfs: bool,
    userspace_is_marked: bool,
}

impl HandOver {
    /// That of a boot with these marks, each with its detail.
    pub fn of<'a>(marks: impl IntoIterator<Item = (Mark, &'a str)>) -> Self {
        let (mut over, mut runs_initramfs, mut manager) = (Self::default(), false, false);
        for (mark, detail) in marks {
            over.initramfs |= matches!(mark, Mark::SwitchRoot | Mark::InitramfsStart);
            over.userspace_is_marked |= mark == Mark::UserspaceStart;
            runs_initramfs |=
                mark == Mark::UserStart && detail.trim_start_matches(INFERRED).starts_with(RUNS_INITRAMFS);
            manager |= matches!(mark, Mark::SystemdStart | Mark::UserspaceStart);
        }
        over.initramfs |= runs_initramfs && manager;
        over
    }

    /// The phase that a mark begins; none: it divides no phases.
    pub fn phase(self, mark: Mark) -> Option<Phase> {
        match mark {
            Mark::UserStart | Mark::GuestStart if self.initramfs => Some(Phase::Initramfs),
            // Nothing else says when the root file system's userspace began.
            Mark::SwitchRoot if !self.userspace_is_marked => Some(Phase::Userspace),
            other => other.phase(),
        }
    }

    /// The present name of a phase of any schema version.
    pub fn present(self, name: &str) -> &str {
        let phase = match name {
            OLD_USERSPACE => self.phase(Mark::GuestStart),
            _ if name == Phase::SwitchRoot.name() => self.phase(Mark::SwitchRoot),
            _ => Phase::parse(name),
        };
        phase.map_or(name, |phase| phase.name())
    }

    /// Whether the present name of a phase can be another one.
    pub fn may_change(name: &str) -> bool {
        name == Phase::SwitchRoot.name() || Phase::parse(name).is_some_and(|phase| phase.name() != name)
    }
}
