//! A calling-context tree from calls that are given as intervals with the name of their caller.

use crate::evidence::{Evidence, Problem, ProblemKind, SpanKind};
use crate::tracing::call_tree::{CallTree, Kind, NodeId, ROOT};
use crate::tracing::long_calls::{Long, LongCalls, Trust};
use crate::tracing::symbols::{Symbol, Symbols};
use rustc_hash::FxHashMap;

/// Calls of one task that may be open at once.
const MOST_OPEN: usize = 1024;

/// One call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) function: Symbol,
    /// The function before the `+` of the call site.
    pub(crate) caller: Symbol,
    /// The task; [`INTERRUPT`] for all interrupts.
    pub(crate) task: u32,
    pub(crate) start_us: i64,
    /// None: it did not end.
    pub(crate) length_us: Option<i64>,
}

/// The task number of interrupt context.
pub(crate) const INTERRUPT: u32 = u32::MAX;

struct Open {
    node: NodeId,
    function: Symbol,
    start_us: i64,
    end_us: i64,
    length_us: i64,
    children_us: i64,
}

/// Puts calls, which must be in the order of their entry, into a tree and into spans.
///
/// *logged*: how many microseconds were logged, where the log tells.
pub(crate) fn build(calls: &[Call], logged_us: Option<i64>, symbols: &mut Symbols, evidence: &mut Evidence) {
    let root = symbols.number(b"[boot]");
    let mut tree = CallTree::new(root);
    let mut long = LongCalls::default();
    let mut tasks: FxHashMap<u32, (NodeId, Vec<Open>)> = FxHashMap::default();
    let ends = calls.iter().map(|call| call.start_us.saturating_add(call.length_us.unwrap_or(0)));
    let end_us = ends.chain(logged_us).max().unwrap_or(0);
    let (mut open_ended, mut overlapping, mut skipped) = (0_u64, 0_u64, 0_u64);
    for call in calls {
        let (base, stack) = tasks.entry(call.task).or_insert_with(|| {
            let (name, kind) = match call.task {
                INTERRUPT => ("[interrupts]".to_owned(), Kind::Interrupt),
                task => (format!("[task {task}]"), Kind::Task),
            };
            let base = tree.child(ROOT, symbols.number(name.as_bytes()), kind);
            tree.enter(base);
            (base, Vec::new())
        });
        let base = *base;
        // What ended before, or at this microsecond without being the caller, is over.
        while stack
            .last()
            .is_some_and(|top| top.end_us < call.start_us || top.end_us == call.start_us && top.function != call.caller)
        {
            overlapping += u64::from(leave(stack, &mut tree));
        }
        if stack.len() >= MOST_OPEN {
            skipped += 1;
            continue;
        }
        let known_end_us = call.start_us.saturating_add(call.length_us.unwrap_or(0));
        // The innermost open call of the caller's name; where the caller has no row (it was filtered), the innermost
        // that encloses this one.
        let active = |open: &Open| {
            open.function == call.caller && open.start_us <= call.start_us && call.start_us <= open.end_us
        };
        let named = stack.iter().rposition(active);
        if let Some(place) = named {
            // What is open below the caller has ended by then, whatever its Delta says: its exit was paired wrongly.
            if stack[place + 1..].iter().all(|open| open.end_us < known_end_us) {
                for _ in place + 1..stack.len() {
                    overlapping += u64::from(leave(stack, &mut tree));
                }
            }
        }
        let encloses = |open: &Open| open.start_us <= call.start_us && known_end_us <= open.end_us;
        let place = named.or_else(|| stack.iter().rposition(encloses));
        // A call without an end lasts as long as its caller, or until the end of the log.
        let limit_us = place.and_then(|place| stack.get(place)).map_or(end_us, |caller| caller.end_us.min(end_us));
        let length_us = call.length_us.unwrap_or_else(|| limit_us.saturating_sub(call.start_us)).max(0);
        let call_end_us = call.start_us.saturating_add(length_us);
        let parent = place.and_then(|place| stack.get_mut(place));
        let parent_node = match parent {
            Some(parent) => {
                parent.children_us = parent.children_us.saturating_add(length_us);
                parent.node
            }
            None => base,
        };
        let kind = if call.task == INTERRUPT { Kind::Interrupt } else { Kind::Function };
        let node = tree.child(parent_node, call.function, kind);
        tree.enter(node);
        open_ended += u64::from(call.length_us.is_none());
        stack.push(Open {
            node,
            function: call.function,
            start_us: call.start_us,
            end_us: call_end_us,
            length_us,
            children_us: 0,
        });
        let nanoseconds = |us: i64| us.saturating_mul(1000);
        long.offer(Long {
            function: call.function,
            task: call.task,
            start_ns: nanoseconds(call.start_us),
            end_ns: nanoseconds(call_end_us),
            duration_ns: nanoseconds(length_us),
            trust: if call.length_us.is_none() { Trust::Unfinished } else { Trust::One },
            kind: SpanKind::Function,
            level: None,
        });
    }
    for (_, stack) in tasks.values_mut() {
        while !stack.is_empty() {
            overlapping += u64::from(leave(stack, &mut tree));
        }
    }
    let mut note = |number: u64, kind, detail: String| {
        if number > 0 {
            evidence.problems.push(Problem { kind, detail, line: None, lost: None });
        }
    };
    note(
        open_ended,
        ProblemKind::Unfinished,
        format!("{open_ended} calls have no end: in the tree they last as long as their caller, or until the end of the log"),
    );
    note(
        overlapping,
        ProblemKind::Contradiction,
        format!("{overlapping} calls took less time than what they called: their own time is negative"),
    );
    note(skipped, ProblemKind::Implausible, format!("{skipped} calls deeper than {MOST_OPEN} are not in the tree"));
    if !long.is_empty() {
        evidence.facts.push(("trace.span_threshold_ns".into(), long.threshold_ns.to_string()));
        long.into_spans(symbols, &mut evidence.spans, |task| match task {
            INTERRUPT => "interrupts".to_owned(),
            task => format!("task {task}"),
        });
    }
    evidence.calls = Some(tree.into_calls(symbols));
}

// Ends the innermost call; tells whether what it called took longer than it did.
fn leave(stack: &mut Vec<Open>, tree: &mut CallTree) -> bool {
    let Some(open) = stack.pop() else { return false };
    let own_us = open.length_us.saturating_sub(open.children_us);
    tree.charge(open.node, own_us.saturating_mul(1000));
    own_us < 0
}
