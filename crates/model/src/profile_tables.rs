//! A profile's way into the tables of a bundle.

use crate::invariants::{check, Invariant};
use crate::table::{integers, texts, write, write_empty, TableWriter, Values, BATCH_ROWS};
use crate::ModelError;
use firstlight_profile::recording::{merged, Instant, Recording, State};
use firstlight_profile::tree::{totals, CallTree, Kind, Node, ROOT};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;

/// What the tables say altogether.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// How the recording ended.
    pub state: State,
    /// Instructions, virtual nanoseconds and idle nanoseconds at its end.
    pub totals: [u64; 3],
    /// The plugin interface that QEMU spoke.
    pub plugin_api: u32,
    /// `icount` or `counted`.
    pub clock: String,
    /// What must hold, and whether it does.
    pub invariants: Vec<Invariant>,
}

/// Reads a profile and writes `marks`, `spans`, `calls`, `phase_calls`, `log` and `counters` into a bundle's directory.
///
/// `console` is what the guest's console printed, `modules` the lines of `/proc/kallsyms` that name a module; either may
/// be missing.
///
/// # Errors
///
/// [`ModelError::Profile`] or [`ModelError::File`] when the evidence cannot be read, or what [`write`] says.
pub fn convert(
    profile: &Path,
    console: Option<&Path>,
    modules: Option<&Path>,
    bundle: &Path,
) -> Result<Summary, ModelError> {
    let decoded = Recording::decode(&bytes(profile)?);
    let mut recording = decoded.map_err(|error| ModelError::Profile { path: profile.to_owned(), error })?;
    let text = |path: Option<&Path>| path.map(bytes).transpose().map(Option::unwrap_or_default);
    let console = text(console)?;
    let mut modules = ModuleSymbols::parse(&String::from_utf8_lossy(&text(modules)?));
    modules.forget_initcalls(&recording);
    gather_nameless(&mut recording, &modules);
    recording.phases = merged(&recording.phases);
    let clock = Clock { shift: recording.icount_shift };
    write_marks(&recording, clock, bundle)?;
    write_spans(&recording, clock, &modules, bundle)?;
    write_calls(&recording, clock, &modules, bundle)?;
    write_phase_calls(&recording, clock, bundle)?;
    write_log(&recording, clock, &console, bundle)?;
    write_counters(&recording, clock, bundle)?;
    write_empty(&["links", "kd"], bundle)?;
    let end = recording.end;
    Ok(Summary {
        state: recording.state,
        totals: [end.instructions, clock.at(end), end.idle_ns],
        plugin_api: recording.plugin_api,
        clock: recording.clock.clone(),
        invariants: check(&recording),
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, ModelError> {
    std::fs::read(path).map_err(|error| ModelError::File { path: path.to_owned(), error })
}

/// Makes a profile's file smaller where it lies, whole or not at all.
///
/// # Errors
///
/// [`ModelError::Profile`] when it is none, [`ModelError::File`] when it cannot be read or written.
pub fn pack(profile: &Path) -> Result<(), ModelError> {
    let wrong = |error| ModelError::Profile { path: profile.to_owned(), error };
    let packed = Recording::pack(&bytes(profile)?).map_err(wrong)?;
    let mut temporary = profile.to_owned().into_os_string();
    temporary.push(".tmp");
    std::fs::write(&temporary, packed)
        .and_then(|()| std::fs::rename(&temporary, profile))
        .map_err(|error| ModelError::File { path: profile.to_owned(), error })
}

#[derive(Clone, Copy)]
struct Clock {
    shift: u8,
}

impl Clock {
    fn ns(self, instructions: u64) -> u64 {
        instructions.checked_shl(u32::from(self.shift)).unwrap_or(u64::MAX)
    }

    fn at(self, instant: Instant) -> u64 {
        self.ns(instant.instructions).saturating_add(instant.idle_ns)
    }
}

/// The functions of kernel modules, which are known only when the boot is over.
struct ModuleSymbols(BTreeMap<u64, (String, String)>);

impl ModuleSymbols {
    fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            matches!(words.next()?, "T" | "t" | "W" | "w").then_some(())?;
            let (name, module) = (words.next()?, words.next()?);
            Some((address, (name.to_owned(), module.trim_matches(['[', ']']).to_owned())))
        };
        Self(text.lines().filter_map(line).collect())
    }

    /// A module's initialiser is freed when it has run, and another module's function may stand in its place by the time
    /// the symbols are read: that is not its name.
    fn forget_initcalls(&mut self, recording: &Recording) {
        for span in recording.spans.iter().filter(|span| span.level == "module") {
            if let Some(function) = recording.functions.get(span.function as usize) {
                self.0.remove(&function.address);
            }
        }
    }

    /// Name, module and kind of a function that the recording knows by its address.
    fn name(&self, address: u64) -> (String, Option<String>, Option<Kind>) {
        match self.0.get(&address) {
            Some((name, module)) => (name.clone(), Some(module.clone()), None),
            None => (NAMELESS.to_owned(), None, Some(Kind::Unknown)),
        }
    }
}

/// The row of kernel code that no symbol covers: generated code, and modules' code that was freed.
const NAMELESS: &str = "[kernel without symbol]";

/// Makes one function of all those that have an address but no name, so that they share a row under each caller.
fn gather_nameless(recording: &mut Recording, modules: &ModuleSymbols) {
    let Some(row) = recording.functions.iter().position(|function| function.name == NAMELESS) else { return };
    let nameless = |function: u32| {
        let function = &recording.functions[function as usize];
        function.name.is_empty() && !modules.0.contains_key(&function.address)
    };
    let mut tree = CallTree::new(recording.nodes[0].function);
    let mut moved = vec![ROOT; recording.nodes.len()];
    for (index, node) in recording.nodes.iter().enumerate().skip(1) {
        let (function, kind) =
            if nameless(node.function) { (row as u32, Kind::Unknown) } else { (node.function, node.kind) };
        moved[index] = tree.child(moved[node.parent as usize], function, kind);
    }
    let mut nodes: Vec<Node> = tree.nodes().map(|node| Node { calls: 0, ..node }).collect();
    for (node, moved) in recording.nodes.iter().zip(&moved) {
        let node_moved: &mut Node = &mut nodes[*moved as usize];
        node_moved.calls += node.calls;
        node_moved.self_instructions += node.self_instructions;
    }
    for row in &mut recording.phases {
        row.node = moved[row.node as usize];
    }
    recording.nodes = nodes;
}

fn name(recording: &Recording, modules: &ModuleSymbols, function: u32) -> (String, Option<String>, Option<Kind>) {
    match recording.functions.get(function as usize) {
        Some(function) if function.name.is_empty() => modules.name(function.address),
        Some(function) => (function.name.clone(), None, None),
        None => (String::new(), None, None),
    }
}

fn write_marks(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), ModelError> {
    let marks = &recording.marks;
    write(
        "marks",
        vec![
            ("mark", texts(marks.iter().map(|mark| mark.mark.as_str()))),
            ("time_ns", integers(marks.iter().map(|mark| clock.at(mark.at)))),
            ("instructions", integers(marks.iter().map(|mark| mark.at.instructions))),
            ("idle_ns", integers(marks.iter().map(|mark| mark.at.idle_ns))),
            ("source", texts(marks.iter().map(|mark| mark.source.as_str()))),
            ("detail", texts(marks.iter().map(|mark| mark.detail.as_str()))),
        ],
        bundle,
    )
}

/// A phase has the name of the mark that begins it, or that of what runs in it where the field has a word for that.
fn phase_name(mark: &str) -> &str {
    match mark {
        "power_on" => "firmware",
        "decompression_start" => "decompression",
        "kernel_start" => "early_init",
        "guest_start" => "user_land",
        other => other,
    }
}

struct SpanRow {
    parent: Option<i64>,
    kind: &'static str,
    name: String,
    track: String,
    level: Option<String>,
    start: Instant,
    end: Option<Instant>,
}

fn write_spans(recording: &Recording, clock: Clock, modules: &ModuleSymbols, bundle: &Path) -> Result<(), ModelError> {
    let ends = recording.marks.iter().skip(1).map(|mark| mark.at).chain([recording.end]);
    // The last mark ends the recording as a rule: what it begins has no length, and is no phase.
    let phases = recording.marks.iter().zip(ends).filter(|(mark, end)| mark.at != *end);
    let mut rows: Vec<SpanRow> = phases
        .map(|(mark, end)| SpanRow {
            parent: None,
            kind: "phase",
            name: phase_name(&mark.mark).to_owned(),
            track: "boot".to_owned(),
            level: None,
            start: mark.at,
            end: Some(end),
        })
        .collect();
    let phase_count = rows.len();
    for span in &recording.spans {
        let function = recording.functions.get(span.function as usize);
        let address = function.filter(|function| function.name.is_empty()).map(|function| function.address);
        let within = rows[..phase_count].iter().rposition(|phase| phase.start.instructions <= span.start.instructions);
        rows.push(SpanRow {
            parent: within.and_then(|index| i64::try_from(index).ok()),
            kind: "initcall",
            // Modules' initcalls are freed before their symbols can be read; the address at least tells them apart.
            name: match (name(recording, modules, span.function).0, address) {
                (name, Some(address)) if name == NAMELESS => format!("{address:#x}"),
                (name, _) => name,
            },
            track: format!("task {}", span.task),
            level: Some(span.level.clone()),
            start: span.start,
            end: span.end,
        });
    }
    let end = |value: &dyn Fn(&SpanRow, Instant) -> u64| {
        Values::Int64(rows.iter().map(|row| row.end.and_then(|end| i64::try_from(value(row, end)).ok())).collect())
    };
    write(
        "spans",
        vec![
            ("span", integers(0..rows.len() as u64)),
            ("parent", Values::Int64(rows.iter().map(|row| row.parent).collect())),
            ("kind", texts(rows.iter().map(|row| row.kind))),
            ("name", texts(rows.iter().map(|row| row.name.as_str()))),
            ("track", texts(rows.iter().map(|row| row.track.as_str()))),
            ("level", Values::Text(rows.iter().map(|row| row.level.clone()).collect())),
            ("start_ns", integers(rows.iter().map(|row| clock.at(row.start)))),
            ("end_ns", end(&|_, end| clock.at(end))),
            ("instructions", end(&|row, end| end.instructions - row.start.instructions)),
            ("idle_ns", end(&|row, end| end.idle_ns - row.start.idle_ns)),
            ("duration_ns", end(&|row, end| clock.at(end) - clock.at(row.start))),
            (
                "grade",
                Values::Text(
                    rows.iter()
                        .map(|row| Some(if row.end.is_some() { "exact" } else { "unknown" }.to_owned()))
                        .collect(),
                ),
            ),
            (
                "reason",
                Values::Text(rows.iter().map(|row| row.end.is_none().then(|| "it did not end".to_owned())).collect()),
            ),
            ("source", Values::Text(rows.iter().map(|_| Some("profile".to_owned())).collect())),
            ("attributes", Values::Text(rows.iter().map(|_| None).collect())),
        ],
        bundle,
    )
}

fn write_calls(recording: &Recording, clock: Clock, modules: &ModuleSymbols, bundle: &Path) -> Result<(), ModelError> {
    let nodes = &recording.nodes;
    let totals = totals(nodes);
    let idle = recording.end.idle_ns;
    let mut known: FxHashMap<u32, (String, Option<String>, Option<Kind>)> = FxHashMap::default();
    for node in nodes {
        known.entry(node.function).or_insert_with(|| name(recording, modules, node.function));
    }
    let of = |function: &u32| known.get(function).cloned().unwrap_or_default();
    let self_ns = |kind: Kind, instructions: u64| match kind {
        Kind::Idle => idle,
        _ => clock.ns(instructions),
    };
    let total_ns = |kind: Kind, instructions: u64| match kind {
        Kind::Idle => idle,
        Kind::Root => clock.ns(instructions) + idle,
        _ => clock.ns(instructions),
    };
    let mut table = TableWriter::create("calls", bundle)?;
    for (batch, first) in nodes.chunks(BATCH_ROWS).zip((0..).step_by(BATCH_ROWS)) {
        let rows = || (first..).zip(batch);
        let totals = totals.get(first..first + batch.len()).unwrap_or_default();
        table.append(vec![
            ("node", integers(rows().map(|(number, _)| number as u64))),
            (
                "parent",
                Values::Int64(rows().map(|(number, node)| (number > 0).then_some(i64::from(node.parent))).collect()),
            ),
            ("function", texts(batch.iter().map(|node| of(&node.function).0))),
            ("module", Values::Text(batch.iter().map(|node| of(&node.function).1).collect())),
            ("kind", texts(batch.iter().map(|node| of(&node.function).2.unwrap_or(node.kind).name()))),
            ("calls", integers(batch.iter().map(|node| node.calls))),
            ("self_instructions", integers(batch.iter().map(|node| node.self_instructions))),
            ("total_instructions", integers(totals.iter().copied())),
            ("self_ns", integers(batch.iter().map(|node| self_ns(node.kind, node.self_instructions)))),
            ("total_ns", integers(batch.iter().zip(totals).map(|(node, total)| total_ns(node.kind, *total)))),
        ])?;
    }
    table.close()
}

fn write_phase_calls(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), ModelError> {
    let phase = |mark: u32| recording.marks.get(mark as usize).map_or("", |mark| phase_name(&mark.mark));
    let mut rows: Vec<(u64, &str, u64, u64, u64)> = recording
        .phases
        .iter()
        .map(|row| {
            let ns = clock.ns(row.self_instructions);
            (u64::from(row.node), phase(row.mark), row.calls, row.self_instructions, ns)
        })
        .collect();
    // Idle time belongs to the phase it passed in.
    let idle_node = recording.nodes.iter().position(|node| node.kind == Kind::Idle);
    let ends = recording.marks.iter().skip(1).map(|mark| mark.at).chain([recording.end]);
    for (mark, end) in recording.marks.iter().zip(ends) {
        let idle = end.idle_ns - mark.at.idle_ns;
        if let Some(node) = idle_node.filter(|_| idle > 0) {
            rows.push((node as u64, phase_name(&mark.mark), 0, 0, idle));
        }
    }
    write(
        "phase_calls",
        vec![
            ("node", integers(rows.iter().map(|row| row.0))),
            ("phase", texts(rows.iter().map(|row| row.1))),
            ("calls", integers(rows.iter().map(|row| row.2))),
            ("self_instructions", integers(rows.iter().map(|row| row.3))),
            ("self_ns", integers(rows.iter().map(|row| row.4))),
        ],
        bundle,
    )
}

fn write_log(recording: &Recording, clock: Clock, console: &[u8], bundle: &Path) -> Result<(), ModelError> {
    let stamps: FxHashMap<u64, u64> = recording.lines.iter().map(|line| (line.offset, clock.at(line.at))).collect();
    let mut offset = 0_u64;
    let mut rows: Vec<(Option<i64>, String)> = Vec::new();
    for line in console.split_inclusive(|byte| *byte == b'\n') {
        let time = stamps.get(&offset).and_then(|time| i64::try_from(*time).ok());
        let text = String::from_utf8_lossy(line);
        rows.push((time, text.trim_end_matches(['\r', '\n']).to_owned()));
        offset += line.len() as u64;
    }
    write(
        "log",
        vec![
            ("line", integers(1..=rows.len() as u64)),
            ("time_ns", Values::Int64(rows.iter().map(|row| row.0).collect())),
            ("source", texts(rows.iter().map(|_| "console"))),
            ("text", texts(rows.iter().map(|row| row.1.as_str()))),
            ("host_ns", Values::Int64(rows.iter().map(|_| None).collect())),
            ("level", Values::Int64(rows.iter().map(|_| None).collect())),
            ("caller", Values::Text(rows.iter().map(|_| None).collect())),
        ],
        bundle,
    )
}

fn write_counters(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), ModelError> {
    let idles = &recording.idles;
    write(
        "counters",
        vec![
            ("counter", texts(idles.iter().map(|_| "idle_ns"))),
            ("time_ns", integers(idles.iter().map(|idle| clock.at(*idle)))),
            ("value", integers(idles.iter().map(|idle| idle.idle_ns))),
        ],
        bundle,
    )
}
