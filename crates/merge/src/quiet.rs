//! Where the start ended, in records of systems that have long been up.

use crate::log::placed;
use crate::phases::BootMark;
use crate::spans::Row;
use crate::Piece;
use firstlight_formats::evidence::SpanKind;

/// A start that says nothing for so long is over.
const QUIET_NS: i64 = 60_000_000_000;

/// Ends a boot whose records go on for long after the start, and whose end no record tells: at the last thing that happened
/// before nothing did for a minute, once user land ran. Gives what is to be said about it.
pub fn start_up_over(pieces: &[Piece<'_>], rows: &[Row<'_>], marks: &mut Vec<BootMark>) -> Option<String> {
    let last = marks.iter().find(|mark| mark.name == "record_end")?.time_ns;
    let user = marks
        .iter()
        .filter(|mark| {
            matches!(
                mark.name.as_str(),
                "user_start" | "initrd_start" | "userspace_start" | "systemd_start" | "run_init" | "free_init_memory"
            )
        })
        .map(|mark| mark.time_ns)
        .min()?;
    if last.saturating_sub(user) <= QUIET_NS {
        return None;
    }
    let mut instants: Vec<i64> = vec![user];
    for piece in pieces {
        instants.extend(piece.evidence.log.iter().filter_map(|(stamp, _)| placed(piece, &stamp)));
    }
    for row in rows.iter().filter(|row| row.kind != SpanKind::UnitActive) {
        instants.extend(row.start_ns.into_iter().chain(row.end_ns));
    }
    instants.extend(marks.iter().filter(|mark| mark.name != "record_end").map(|mark| mark.time_ns));
    instants.retain(|at| *at >= user);
    instants.sort_unstable();
    let (over, next) = instants.windows(2).find_map(|pair| match pair {
        [one, two] if two.saturating_sub(*one) > QUIET_NS => Some((*one, *two)),
        _ => None,
    })?;
    // What happened later is no mark of the start.
    let source =
        marks.iter().find(|mark| mark.name == "record_end").map(|mark| mark.source.clone()).unwrap_or_default();
    marks.retain(|mark| mark.time_ns <= over);
    let detail = format!("then nothing for {} s", next.saturating_sub(over) / 1_000_000_000);
    marks.push(BootMark { name: "startup_over".to_owned(), time_ns: over, source, detail });
    marks.sort_by_key(|mark| mark.time_ns);
    Some(format!(
        "no record tells when the start was over: it is taken to end where nothing happened for {} s; what came later, up to \
         {} s after that, stays in the log",
        next.saturating_sub(over) / 1_000_000_000,
        last.saturating_sub(over) / 1_000_000_000
    ))
}
