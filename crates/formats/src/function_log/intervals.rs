//! A calling-context tree from calls that are given as intervals with the name of their caller.

use crate::counts::counted;
use crate::evidence::{Evidence, Problem, ProblemKind, SpanKind};
use crate::tracing::call_tree::{CallTree, Kind, NodeId, ROOT};
use crate::tracing::long_calls::{Long, LongCalls, Trust};
use crate::tracing::symbols::{Symbol, Symbols};
use firstlight_schema::CallRow;
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
    task: u32,
    /// Its place among the open calls, where its caller is one of them.
    caller: Option<usize>,
    /// Its exit was not logged: it had ended by then.
    unfinished: bool,
    /// Until when it is known to have lasted.
    seen_us: i64,
}

/// Puts calls, which must be in the order of their entry, into a tree and into spans.
///
/// *logged*: how many microseconds were logged, where the log has it.
pub(crate) fn build(calls: &[Call], logged_us: Option<i64>, symbols: &mut Symbols, evidence: &mut Evidence) {
    let root = symbols.number(CallRow::Boot.name().as_bytes());
    let mut tree = CallTree::new(root);
    let mut long = LongCalls::default();
    let mut tasks: FxHashMap<u32, (NodeId, Vec<Open>)> = FxHashMap::default();
    let ends = calls.iter().map(|call| call.start_us.saturating_add(call.length_us.unwrap_or(0)));
    let end_us = ends.chain(logged_us).max().unwrap_or(0);
    let (mut open_ended, mut overlapping, mut skipped) = (0_u64, 0_u64, 0_u64);
    for call in calls {
        let (base, stack) = tasks.entry(call.task).or_insert_with(|| {
            let (name, kind) = match call.task {
                INTERRUPT => (CallRow::Interrupts.name().to_owned(), Kind::Interrupt),
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
            overlapping += u64::from(leave(stack, end_us, &mut tree, &mut long));
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
            if stack[place + 1..].iter().all(|open| open.unfinished || open.end_us < known_end_us) {
                while stack.len() > place + 1 {
                    end_by(stack, call.start_us);
                    overlapping += u64::from(leave(stack, end_us, &mut tree, &mut long));
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
                parent.seen_us = parent.seen_us.max(call.start_us);
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
            task: call.task,
            caller: place,
            unfinished: call.length_us.is_none(),
            seen_us: known_end_us,
        });
    }
    for (_, stack) in tasks.values_mut() {
        while !stack.is_empty() {
            overlapping += u64::from(leave(stack, end_us, &mut tree, &mut long));
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
        counted(open_ended, "# call[|s] [has|have] no end: in the tree [it lasts|they last] until [its|their] caller calls again or ends, or until the end of the log"),
    );
    note(
        overlapping,
        ProblemKind::Contradiction,
        counted(overlapping, "# call[|s] took less time than what [it|they] called: [its|their] own time is negative"),
    );
    note(
        skipped,
        ProblemKind::Implausible,
        counted(skipped, &format!("# call[|s] deeper than {MOST_OPEN} [is|are] not in the tree")),
    );
    if !long.is_empty() {
        evidence.facts.push(("trace.span_threshold_ns".into(), long.threshold_ns.to_string()));
        long.into_spans(symbols, &mut evidence.spans, |task| match task {
            INTERRUPT => "interrupts".to_owned(),
            task => format!("task {task}"),
        });
    }
    evidence.calls = Some(tree.into_calls(symbols));
}

// The innermost call, if its exit was not logged, had ended when its caller called again; what it called took its time.
fn end_by(stack: &mut [Open], by_us: i64) {
    let Some((open, outer)) = stack.split_last_mut().filter(|(open, _)| open.unfinished) else { return };
    let end_us = by_us.min(open.end_us).max(open.start_us.saturating_add(open.children_us));
    let shorter_us = open.end_us.saturating_sub(end_us).clamp(0, open.length_us);
    open.end_us = end_us;
    open.length_us -= shorter_us;
    if let Some(caller) = open.caller.and_then(|caller| outer.get_mut(caller)) {
        caller.children_us = caller.children_us.saturating_sub(shorter_us);
    }
}

// Ends the innermost call; returns whether what it called took longer than it did. What nothing ended was open when the log ended.
fn leave(stack: &mut Vec<Open>, log_end_us: i64, tree: &mut CallTree, long: &mut LongCalls) -> bool {
    let Some(open) = stack.pop() else { return false };
    if let Some(caller) = open.caller.and_then(|caller| stack.get_mut(caller)) {
        caller.seen_us = caller.seen_us.max(open.seen_us);
    }
    let (end_us, trust) = match open.unfinished {
        true if open.end_us < log_end_us => (open.seen_us, Trust::Unfinished),
        true => (open.end_us, Trust::Unfinished),
        false => (open.end_us, Trust::One),
    };
    let nanoseconds = |us: i64| us.saturating_mul(1000);
    long.offer(Long {
        function: open.function,
        task: open.task,
        start_ns: nanoseconds(open.start_us),
        end_ns: nanoseconds(end_us),
        duration_ns: nanoseconds(if open.unfinished { end_us.saturating_sub(open.start_us) } else { open.length_us }),
        trust,
        kind: SpanKind::Function,
        level: None,
    });
    let own_us = open.length_us.saturating_sub(open.children_us);
    tree.charge(open.node, own_us.saturating_mul(1000));
    own_us < 0
}
