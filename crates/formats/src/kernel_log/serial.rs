//! A serial console as it came: a boot loader, the kernel, user land.

use super::printk::{looks, Looks};
use super::text::read;
use crate::about::{About, Origin, Role, Traits};
use crate::evidence::Evidence;
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct Serial;

impl Format for Serial {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Serial, Traits { role: Some(Role::Console), ..Traits::of(Origin::KernelLog) }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        match looks(head) {
            Looks { loaders, stamped, boot, .. } if loaders > 0 && (stamped > 2 || boot > 1) => Likelihood::Likely,
            Looks { loaders, .. } if loaders > 1 => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        read(self.about(), "", true, input.bytes)
    }
}
