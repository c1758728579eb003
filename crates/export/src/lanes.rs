//! Lanes: the spans of one track may overlap, the slices of most formats may only nest. A lane is a part of a track in
//! which they do.

use std::collections::BTreeSet;

/// From a start to an end; without an end it lasts to the end of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// When it starts.
    pub start: i64,
    /// When it ends; not before its start.
    pub end: Option<i64>,
}

/// What happens next on a lane, in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The span with this number begins, inside of all that are open on its lane.
    Begin(usize),
    /// The span with this number ends, which is the last that began on its lane.
    End(usize),
}

/// Walks through spans in order of time and reports what begins and ends on which lane. Lane 0 comes first; a span goes
/// where it nests closest, else to a free lane, else to a new one. What has no end is never ended.
///
/// Takes n log n steps, however the spans overlap.
///
/// ```
/// use firstlight_export::lanes::{sweep, Interval, Step};
/// let spans = [(0, 10), (2, 4), (8, 12)].map(|(start, end)| Interval { start, end: Some(end) });
/// let mut steps = Vec::new();
/// let lanes = sweep(&spans, |step, lane| steps.push((step, lane)));
/// assert_eq!(lanes, 2);
/// assert_eq!(steps[..3], [(Step::Begin(0), 0), (Step::Begin(1), 0), (Step::End(1), 0)]);
/// assert_eq!(steps[3..], [(Step::Begin(2), 1), (Step::End(0), 0), (Step::End(2), 1)]);
/// ```
pub fn sweep(spans: &[Interval], mut step: impl FnMut(Step, usize)) -> usize {
    let end_of = |number: usize| spans.get(number).and_then(|span| span.end).unwrap_or(i64::MAX);
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order
        .sort_by_key(|number| (spans.get(*number).map(|span| span.start), std::cmp::Reverse(end_of(*number)), *number));

    let mut open: Vec<Vec<usize>> = Vec::new();
    // The innermost end of every lane on which something is open, and the lanes on which nothing is.
    let mut ends: BTreeSet<(i64, usize)> = BTreeSet::new();
    let mut free: BTreeSet<usize> = BTreeSet::new();
    for number in order {
        let Some(span) = spans.get(number) else { continue };
        close_until(span.start, spans, &mut open, &mut ends, &mut free, &mut step);
        let end = end_of(number);
        let lane = if let Some(around) = ends.range((end, 0)..).next().copied() {
            ends.remove(&around);
            around.1
        } else {
            free.pop_first().unwrap_or(open.len())
        };
        if lane == open.len() {
            open.push(Vec::new());
        }
        if let Some(stack) = open.get_mut(lane) {
            stack.push(number);
        }
        ends.insert((end, lane));
        step(Step::Begin(number), lane);
    }
    close_until(i64::MAX, spans, &mut open, &mut ends, &mut free, &mut step);
    open.len()
}

fn close_until(
    time: i64,
    spans: &[Interval],
    open: &mut [Vec<usize>],
    ends: &mut BTreeSet<(i64, usize)>,
    free: &mut BTreeSet<usize>,
    step: &mut impl FnMut(Step, usize),
) {
    let end_of = |number: usize| spans.get(number).and_then(|span| span.end);
    // What has no end counts as ending last; it stays open.
    while let Some((end, lane)) = ends.first().copied().filter(|(end, _)| *end <= time) {
        ends.remove(&(end, lane));
        let Some(stack) = open.get_mut(lane) else { continue };
        let Some(innermost) = stack.last().copied() else { continue };
        if end_of(innermost).is_none() {
            continue;
        }
        stack.pop();
        step(Step::End(innermost), lane);
        match stack.last() {
            Some(around) => ends.insert((end_of(*around).unwrap_or(i64::MAX), lane)),
            None => free.insert(lane),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(spans: &[(i64, Option<i64>)]) -> (usize, Vec<(Step, usize)>) {
        let spans: Vec<Interval> = spans.iter().map(|(start, end)| Interval { start: *start, end: *end }).collect();
        let mut steps = Vec::new();
        let lanes = sweep(&spans, |step, lane| steps.push((step, lane)));
        (lanes, steps)
    }

    #[test]
    fn what_begins_where_another_ends_stays_on_its_lane() {
        let (lanes, steps) = walked(&[(0, Some(5)), (5, Some(9))]);
        assert_eq!(lanes, 1);
        assert_eq!(steps[1..3], [(Step::End(0), 0), (Step::Begin(1), 0)]);
    }

    #[test]
    fn spans_without_length_stand_one_after_the_other() {
        let (lanes, steps) = walked(&[(5, Some(5)), (5, Some(5)), (0, Some(5))]);
        assert_eq!(lanes, 1);
        let order: Vec<Step> = steps.into_iter().map(|(step, _)| step).collect();
        use Step::{Begin, End};
        assert_eq!(order, [Begin(2), End(2), Begin(0), End(0), Begin(1), End(1)]);
    }

    #[test]
    fn what_never_ends_holds_what_comes_after_it_and_is_not_ended() {
        let (lanes, steps) = walked(&[(0, None), (3, Some(i64::MAX)), (4, Some(6))]);
        assert_eq!(lanes, 1);
        assert!(!steps.contains(&(Step::End(0), 0)));
        assert!(steps.contains(&(Step::End(2), 0)));
    }

    #[test]
    fn a_hundred_thousand_spans_that_all_overlap_take_a_lane_each() {
        let spans: Vec<(i64, Option<i64>)> = (0..100_000).map(|start| (start, Some(start + 200_000))).collect();
        assert_eq!(walked(&spans).0, 100_000);
    }

    #[test]
    fn on_every_lane_the_last_that_began_ends_first() {
        // A small generator of numbers: any order will do.
        let mut state = 1_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            i64::try_from((state >> 33) % below).unwrap_or(0)
        };
        let spans: Vec<(i64, Option<i64>)> = (0..5_000)
            .map(|_| {
                let start = next(1_000);
                (start, (next(50) > 0).then(|| start + next(40)))
            })
            .collect();
        let (lanes, steps) = walked(&spans);
        let mut open = vec![Vec::new(); lanes];
        for (step, lane) in steps {
            match step {
                Step::Begin(number) => open[lane].push(number),
                Step::End(number) => assert_eq!(open[lane].pop(), Some(number)),
            }
        }
        assert!(open.concat().iter().all(|number| spans[*number].1.is_none()));
    }
}
