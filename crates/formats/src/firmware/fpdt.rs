//! The times of the ACPI table FPDT, as the files below `/sys/firmware/acpi/fpdt/boot` hold them.

use super::plausible::{check, LONGEST_NS};
use crate::about::{About, Anchor, Origin, Traits};
use crate::evidence::{Clock, Evidence, Instant, Mark, Problem, ProblemKind, Span, SpanKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;

/// Reads one such file by its name, or several as `grep -r . /sys/firmware/acpi/fpdt/boot` prints them.
pub struct Fpdt;

/// As systemd takes it.
const ANCHOR: Anchor = Anchor {
    mark: Mark::ExitBootServicesEnd,
    assumption: ", as systemd does: the kernel's clock began when ExitBootServices returned",
};

/// The files in the order in which their instants come, and the marks they stand for.
const FILES: [(&str, Mark); 5] = [
    ("firmware_start_ns", Mark::FirmwareStart),
    ("bootloader_load_ns", Mark::LoaderLoad),
    ("bootloader_launch_ns", Mark::LoaderStart),
    ("exitbootservice_start_ns", Mark::ExitBootServicesStart),
    ("exitbootservice_end_ns", Mark::ExitBootServicesEnd),
];

impl Format for Fpdt {
    fn about(&self) -> &'static About {
        const {
            &About::of(
                FormatName::Fpdt,
                Traits {
                    anchor: Some(ANCHOR),
                    single_values_ns: Some(1),
                    resets_clock: true,
                    ..Traits::of(Origin::Firmware)
                },
            )
        }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let text = String::from_utf8_lossy(head.bytes.get(..1024).unwrap_or(head.bytes));
        let file = head.file_name();
        if FILES.iter().any(|(name, _)| *name == file) {
            let number = text.trim();
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            return Likelihood::of_signature(digits);
        }
        Likelihood::of_rows(text.lines().filter(|line| row(line).is_some()).count())
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut evidence = Evidence { first_line: 1, step_ns: 1, ..Evidence::of(self.about(), Clock::Firmware) };
        let file = input.file_name();
        let own = FILES.iter().position(|(name, _)| *name == file);
        let mut times: [Option<i64>; FILES.len()] = [None; FILES.len()];
        let mut lines = Lines::new(input.bytes);
        let mut known = false;
        while let Some(line) = lines.next_line()? {
            let text = String::from_utf8_lossy(line.bytes);
            let found = row(&text).or_else(|| Some((own?, text.trim())));
            let Some((place, value)) = found.filter(|(_, value)| !value.is_empty()) else { continue };
            let Some((name, mark)) = FILES.get(place).copied() else { continue };
            let Ok(time_ns) = value.parse::<i64>() else {
                evidence.problem(ProblemKind::Torn, Some(line.number), format!("{name} is not a number"));
                continue;
            };
            known = true;
            if time_ns == 0 {
                let detail = format!("{name} is 0: the firmware did not fill it in, it is unknown");
                let line = Some(line.number);
                evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line, lost: Some(1) });
                continue;
            }
            evidence.understood += 1;
            evidence.marks.push(Instant { mark, time_ns, detail: name.to_owned() });
            if let Some(slot) = times.get_mut(place) {
                *slot = Some(time_ns);
            }
        }
        if !known {
            return Err(self.not_this("it has none of the five times"));
        }
        let instants: Vec<(&str, i64)> =
            FILES.iter().zip(times).filter_map(|((name, _), time)| Some((*name, time?))).collect();
        check(&instants, &mut evidence);
        let [start, load, launch, exit, exited] = times;
        for (name, start, end) in [
            ("firmware", start, load.or(launch)),
            ("loader", launch.or(load), exit),
            ("exit boot services", exit, exited),
        ] {
            if let (Some(start), Some(end)) = (start, end) {
                if end >= start && end <= LONGEST_NS {
                    evidence.spans.push(Span::new(SpanKind::Firmware, name).between(start, end));
                }
            }
        }
        // A file of sysfs may have no line end.
        evidence.problems.extend(lines.problems().into_iter().filter(|problem| problem.kind != ProblemKind::Cut));
        Ok(vec![evidence])
    }
}

/// `.../firmware_start_ns:1234`, also with `=` or a blank in place of the colon.
fn row(line: &str) -> Option<(usize, &str)> {
    let (path, value) = line.trim().rsplit_once([':', '=', ' ', '\t'])?;
    let name = path.trim_end_matches([':', '=', ' ', '\t']).rsplit('/').next()?;
    let place = FILES.iter().position(|(file, _)| *file == name)?;
    value.bytes().all(|byte| byte.is_ascii_digit()).then_some((place, value))
}
