//! What every reader promises of its evidence, whatever it was given.

use firstlight_formats::evidence::Evidence;

/// Fails where the evidence breaks a promise.
pub fn check(evidence: &Evidence) {
    for (number, span) in evidence.spans.iter().enumerate() {
        assert!(span.parent.is_none_or(|parent| parent < evidence.spans.len() && parent != number), "{span:?}");
        if let (Some(start), Some(end)) = (span.start_ns, span.end_ns) {
            assert!(start <= end, "{span:?}");
        }
        assert!(span.duration_ns.is_none_or(|duration| duration >= 0), "{span:?}");
        assert!(!span.name.is_empty() && !span.name.contains('\n'), "{span:?}");
    }
    if let Some(calls) = &evidence.calls {
        for (number, node) in calls.nodes.iter().enumerate() {
            assert!(number == 0 || (node.parent as usize) < number, "node {number} before its parent");
            assert!((node.function as usize) < calls.functions.len(), "node {number} has no name");
        }
    }
    assert_eq!(evidence.log.iter().count(), evidence.log.len());
    for problem in &evidence.problems {
        assert!(!problem.detail.is_empty(), "{problem:?}");
    }
}
