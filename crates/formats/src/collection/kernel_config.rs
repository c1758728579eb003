//! A kernel's configuration: `/proc/config.gz` unpacked, `/boot/config-RELEASE`, `.config`.

use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, ProblemKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;

/// Reads a kernel's configuration as one fact.
pub struct KernelConfig;

/// A real one has some 300 kB.
const MOST_BYTES: usize = 16 << 20;

impl Format for KernelConfig {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::KernelConfig, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes.get(..4096).unwrap_or(head.bytes));
        let lines = || text.lines().filter(|line| !line.trim().is_empty());
        let options = lines().filter(|line| is_option(line)).count();
        // Comments stand beside options; whatever else there is, is of another format.
        if options < 3 || lines().any(|line| !is_option(line) && !line.starts_with('#') && !text.ends_with(line)) {
            return Likelihood::No;
        }
        Likelihood::Certain
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, ..Evidence::of(self.about(), Clock::Untimed) };
        let mut config = String::new();
        let (mut unparsed, mut skipped) = (Unparsed::default(), 0_u64);
        let mut lines = Lines::new(input.bytes);
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            if !is_option(&text) && !text.starts_with('#') && !text.trim().is_empty() {
                unparsed.add(line.number);
            } else if config.len().saturating_add(text.len()) >= MOST_BYTES {
                skipped += 1;
            } else {
                evidence.understood += u64::from(is_option(&text));
                config.push_str(&text);
                config.push('\n');
            }
        }
        if evidence.understood == 0 {
            return Err(self.not_this("no line sets an option"));
        }
        evidence.facts.push(("kernel.config".into(), config));
        evidence.problems.extend(lines.problems());
        unparsed.report("line[|s] [is|are] neither option nor comment", &mut evidence);
        if skipped > 0 {
            evidence.problem(
                ProblemKind::Overlong,
                None,
                counted(skipped, "# line[|s] beyond 16 MiB [was|were] passed over"),
            );
        }
        Ok(vec![evidence])
    }
}

/// `CONFIG_NAME=VALUE` or `# CONFIG_NAME is not set`.
fn is_option(line: &str) -> bool {
    let (rest, unset) = match line.strip_prefix("# ") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let Some(rest) = rest.strip_prefix("CONFIG_") else { return false };
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let after = rest.get(end..).unwrap_or_default();
    end > 0 && if unset { after == " is not set" } else { after.starts_with('=') }
}
