//! What a graph says at its end.

use super::super::events::both;
use super::{Count, Graph};
use crate::about::About;
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Problem, ProblemKind};

impl Graph {
    /// Puts tree, spans and problems into the evidence.
    pub(crate) fn finish(mut self, evidence: &mut Evidence) {
        for place in 0..self.stacks.len() {
            self.unwind(place, 0);
        }
        self.problems(evidence);
        evidence.extent_ns = self.stamps.filter(|_| self.timed);
        if self.calls == 0 {
            return;
        }
        if self.timed && !self.long.is_empty() {
            evidence.facts.push(("trace.span_threshold_ns".into(), self.long.threshold_ns.to_string()));
            evidence.facts.push(("trace.calls_without_span".into(), self.long.shorter.to_string()));
            let keys: Vec<u64> = self.stacks.iter().map(|stack| stack.key).collect();
            self.long.into_spans(&self.symbols, &mut evidence.spans, |place| {
                let key = keys.get(place as usize).copied().unwrap_or(0);
                let what = if key >> 40 == 0 { "task" } else { "cpu" };
                format!("{what} {}", key & 0xffff_ffff)
            });
        }
        evidence.calls = Some(self.tree.into_calls(&self.symbols));
    }

    /// Adds tree, spans and problems to evidence that has others already.
    pub(crate) fn finish_beside(self, about: &'static About, evidence: &mut Evidence) {
        let mut graph = Evidence::of(about, evidence.clock.clone());
        self.finish(&mut graph);
        evidence.spans.append(&graph.spans);
        evidence.facts.extend(graph.facts);
        evidence.problems.extend(graph.problems);
        evidence.calls = graph.calls.or_else(|| evidence.calls.take());
        evidence.extent_ns = both(evidence.extent_ns, graph.extent_ns);
    }

    fn problems(&self, evidence: &mut Evidence) {
        let mut note = |count: Count, kind, detail: String| {
            if count.number > 0 {
                evidence.problems.push(Problem { kind, detail, line: Some(count.first), lost: None });
            }
        };
        let lengths = if self.timed { "the last line of their task" } else { "what they called" };
        note(
            self.unfinished,
            ProblemKind::Unfinished,
            format!(
                "{}{lengths}",
                counted(
                    self.unfinished.number,
                    "# call[|s] [has|have] no end: [it is|they are] counted with the time until "
                )
            ),
        );
        note(
            self.unpaired,
            ProblemKind::Unpaired,
            counted(self.unpaired.number, &format!("# return[|s] [has|have] no entry: [its|their] {} us are not in the tree, what [it|they] called stands under [its|their] caller", self.unpaired_ns / 1000)),
        );
        note(
            self.longer_inside,
            ProblemKind::Contradiction,
            counted(
                self.longer_inside.number,
                "# call[|s] took less time than what [it|they] called: [it is|they are] counted with that",
            ),
        );
        note(
            self.too_long,
            ProblemKind::Contradiction,
            counted(self.too_long.number, "# call[|s] end[s|] by [its|their] duration after the next line of the same task: [it is|they are] counted until there"),
        );
        note(
            self.crowded,
            ProblemKind::Implausible,
            counted(
                self.crowded.number,
                "# line[|s] of more tasks, processors or frames than a kernel has [was|were] left out",
            ),
        );
        if self.tree.folded > 0 || self.symbols.overflowed() {
            let detail = format!(
                "{}{} calling contexts",
                counted(
                    self.tree.folded,
                    "# call[|s] [was|were] charged to [its|their] callers: a tree holds at most "
                ),
                self.tree.len()
            );
            evidence.problems.push(Problem { kind: ProblemKind::Overlong, detail, line: None, lost: None });
        }
        if !self.timed && self.calls > 0 && evidence.clock == Clock::Untimed {
            let detail = "the lines have no stamps (funcgraph-abstime was off): there is a tree, but no timeline";
            evidence.problem(ProblemKind::Untimed, None, detail);
        }
    }
}
