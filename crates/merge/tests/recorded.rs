//! What a recorded boot says on its own console, in the tables of its recording.
#![expect(clippy::unwrap_used, reason = "a test stops where it is surprised")]

use firstlight_merge::recorded::add_console;
mod tables;

use firstlight_schema::table::{integers, texts, write, write_empty, Values};
use std::path::Path;
use tables::column;

const MS: i64 = 1_000_000;

/// Instant on the recording's clock in milliseconds, and text. The kernel's clock began 200 ms before the recording's 0.
const CONSOLE: [(Option<i64>, &str); 14] = [
    (Some(0), "[    0.000000] Linux version 6.1.0-test (a@b) (gcc 12) #1 SMP"),
    (Some(100), "[    0.300000] calling  pci_init+0x0/0x40 @ 1"),
    (Some(120), "[    0.320000] probe of 0000:00:1f.2 returned 0 after 15000 usecs"),
    (Some(140), "[    0.340000] probe of slow returned -517 after 1000 usecs"),
    (Some(200), "[    0.400000] initcall pci_init+0x0/0x40 returned -19 after 99000 usecs"),
    (Some(300), "[    0.500000] calling  nfit_init+0x0/0xff0 [nfit] @ 77"),
    (Some(350), "[    0.550000] initcall nfit_init+0x0/0xff0 [nfit] returned 0 after 49000 usecs"),
    (Some(400), "[    0.600000] platform slow: deferred probe pending: wait for supplier regulator"),
    (Some(500), "[    0.700000] systemd[1]: Starting early.service - Early..."),
    (Some(501), "         Starting \u{1b}[0;1;39mearly.service\u{1b}[0m - Early..."),
    (Some(520), "         Starting late.service - Late..."),
    (Some(580), "[\u{1b}[0;32m  OK  \u{1b}[0m] Finished late.service - Late."),
    (Some(590), "[FAILED] Failed to start early.service - Early."),
    (None, "[  OK  ] Finished after-the-end.service - Printed when nobody measured any more."),
];

fn recording(bundle: &Path, initcalls: &[(&str, &str, &str, i64, i64)]) -> Vec<u8> {
    let lines = || CONSOLE.iter();
    let nothing = |rows: usize| Values::Text(vec![None; rows]);
    let log = vec![
        ("line", integers(1..=CONSOLE.len() as u64)),
        ("time_ns", Values::Int64(lines().map(|(at, _)| at.map(|at| at * MS)).collect())),
        ("source", texts(lines().map(|_| "console"))),
        ("text", texts(lines().map(|(_, text)| *text))),
        ("host_ns", Values::Int64(vec![None; CONSOLE.len()])),
        ("level", Values::Int64(vec![None; CONSOLE.len()])),
        ("caller", nothing(CONSOLE.len())),
        ("channel", nothing(CONSOLE.len())),
    ];
    write("log", log, bundle).unwrap();
    let mut rows = vec![("phase", "early_init", "boot", "", 0, 90), ("phase", "initcalls", "boot", "", 90, 600)];
    rows.extend(
        initcalls.iter().map(|(name, level, track, start, end)| ("initcall", *name, *track, *level, *start, *end)),
    );
    let count = rows.len();
    let spans = vec![
        ("span", integers(0..count as u64)),
        ("parent", Values::Int64(rows.iter().map(|row| (row.0 == "initcall").then_some(1)).collect())),
        ("kind", texts(rows.iter().map(|row| row.0))),
        ("name", texts(rows.iter().map(|row| row.1))),
        ("track", texts(rows.iter().map(|row| row.2))),
        ("level", Values::Text(rows.iter().map(|row| (!row.3.is_empty()).then(|| row.3.to_owned())).collect())),
        ("start_ns", Values::Int64(rows.iter().map(|row| Some(row.4 * MS)).collect())),
        ("end_ns", Values::Int64(rows.iter().map(|row| Some(row.5 * MS)).collect())),
        ("instructions", Values::Int64(rows.iter().map(|row| Some(row.5)).collect())),
        ("idle_ns", Values::Int64(vec![Some(0); count])),
        ("duration_ns", Values::Int64(rows.iter().map(|row| Some((row.5 - row.4) * MS)).collect())),
        ("grade", texts(rows.iter().map(|_| "exact"))),
        ("reason", nothing(count)),
        ("source", texts(rows.iter().map(|_| "profile"))),
        ("attributes", nothing(count)),
    ];
    write("spans", spans, bundle).unwrap();
    write_empty(&["links"], bundle).unwrap();
    lines().flat_map(|(_, text)| [text.as_bytes(), b"\r\n"].concat()).collect()
}

/// Name, parent, start and end in milliseconds, source of the spans of a kind.
fn spans(bundle: &Path, kind: &str) -> Vec<String> {
    let column = |name| column(bundle, "spans", name);
    let ms = |ns: &str| ns.parse::<i64>().map_or("-".to_owned(), |ns| (ns / MS).to_string());
    let (kinds, names, parents, sources) = (column("kind"), column("name"), column("parent"), column("source"));
    let (starts, ends) = (column("start_ns"), column("end_ns"));
    (0..kinds.len())
        .filter(|row| kinds[*row] == kind)
        .map(|row| {
            let parent = parents[row].parse::<usize>().map_or("-", |parent| names[parent].as_str());
            format!("{} in {parent} {}-{} ({})", names[row], ms(&starts[row]), ms(&ends[row]), sources[row])
        })
        .collect()
}

#[test]
fn probes_units_and_names_of_modules_come_from_the_console_and_figures_from_the_recording() {
    let bundle = tempfile::tempdir().unwrap();
    let measured = [("pci_init", "device", "task 1", 101, 199), ("0xffffffffc0246000", "module", "task 77", 301, 349)];
    let console = recording(bundle.path(), &measured);
    let facts = add_console(&console, None, bundle.path()).unwrap();
    assert_eq!(
        spans(bundle.path(), "initcall"),
        ["pci_init in initcalls 101-199 (profile)", "nfit_init in initcalls 301-349 (profile)"]
    );
    let attributes = column(bundle.path(), "spans", "attributes");
    assert_eq!(attributes[2], r#"{"returned":"-19"}"#);
    assert_eq!(attributes[3], r#"{"address":"0xffffffffc0246000","module":"nfit","returned":"0"}"#);
    assert_eq!(column(bundle.path(), "spans", "instructions")[..4], ["90", "600", "199", "349"]);
    // The kernel's clock is ahead by 200 ms; the probe lies in the initcall that was open.
    assert_eq!(
        spans(bundle.path(), "probe"),
        ["0000:00:1f.2 in pci_init 105-120 (console)", "slow in pci_init 139-140 (console)"]
    );
    assert_eq!(
        spans(bundle.path(), "unit"),
        ["late.service in initcalls 520-580 (console)", "early.service in initcalls 500-590 (console)"]
    );
    assert_eq!(column(bundle.path(), "links", "to_name"), ["regulator"]);
    let facts: Vec<String> = facts.into_iter().map(|(fact, value)| format!("{fact}={value}")).collect();
    assert_eq!(
        facts,
        [
            "kernel.deferred_probes=slow",
            "kernel.deferred_probe.slow=wait for supplier regulator",
            "systemd.failed=early.service"
        ]
    );
}

#[test]
fn a_recording_without_initcalls_has_those_of_the_console() {
    let bundle = tempfile::tempdir().unwrap();
    let console = recording(bundle.path(), &[]);
    add_console(&console, None, bundle.path()).unwrap();
    assert_eq!(
        spans(bundle.path(), "initcall"),
        ["pci_init in initcalls 100-200 (console)", "nfit_init in initcalls 300-350 (console)"]
    );
}

#[test]
fn a_console_that_nobody_stamped_or_that_says_nothing_changes_nothing() {
    for console in ["", "\u{1b}[2J\n\n", "no kernel here\n"] {
        let bundle = tempfile::tempdir().unwrap();
        recording(bundle.path(), &[("pci_init", "device", "task 1", 101, 199)]);
        let before = column(bundle.path(), "spans", "name");
        assert_eq!(add_console(console.as_bytes(), None, bundle.path()).unwrap(), []);
        assert_eq!(column(bundle.path(), "spans", "name"), before);
        write_empty(&["log"], bundle.path()).unwrap();
        assert_eq!(
            add_console(
                b"[    0.000000] Linux version 6\n[    1.000000] probe of x returned 0 after 1 usecs\n",
                None,
                bundle.path()
            )
            .unwrap(),
            []
        );
        assert_eq!(column(bundle.path(), "spans", "name"), before);
    }
}

#[test]
fn what_the_console_left_out_comes_from_the_ring_of_the_kernel() {
    let bundle = tempfile::tempdir().unwrap();
    let console = recording(bundle.path(), &[("pci_init", "device", "task 1", 101, 199)]);
    let ring = "5,0,0,-;Linux version 6.1.0-test (a@b) (gcc 12) #1 SMP\n7,1,300000,-;calling  pci_init+0x0/0x40 @ 1\n\
                7,2,320000,-;probe of hidden returned 0 after 15000 usecs\n\
                7,3,400000,-;initcall pci_init+0x0/0x40 returned 0 after 99000 usecs\n\
                7,4,9000000,-;probe of afterwards returned 0 after 1000 usecs\n";
    add_console(&console, Some(ring.as_bytes()), bundle.path()).unwrap();
    assert_eq!(spans(bundle.path(), "probe"), ["hidden in pci_init 105-120 (console)"]);
    assert_eq!(spans(bundle.path(), "unit").len(), 2);
}
