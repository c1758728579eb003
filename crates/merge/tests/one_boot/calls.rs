//! Calling-context trees.

use crate::made::{boot, of, record};
use firstlight_formats::evidence::{CallNode, Calls, Clock};

#[test]
fn a_tree_adds_up_also_where_a_record_contradicts_itself() {
    let node =
        |parent, function, self_ns| CallNode { parent, function, kind: "function", calls: 1, self_ns: Some(self_ns) };
    let functions = ["[boot]", "outer", "inner"].map(|name| (name.to_owned(), None)).to_vec();
    let nodes = vec![CallNode { kind: "root", ..node(0, 0, 0) }, node(0, 1, -5), node(1, 2, 20)];
    let mut trace = of("function-graph", Clock::Trace(String::new()));
    trace.calls = Some(Calls { functions, nodes });
    let boot = boot(&[record("trace", vec![trace])]);
    assert_eq!(boot.integers("calls", 9), [Some(15), Some(15), Some(20)]);
    let kd = firstlight_model::kd::bundle_kd(
        boot.directory.path(),
        None,
        None,
        false,
        firstlight_model::folding::Parts::Folded,
    )
    .unwrap();
    let outer = kd.rows.iter().find(|row| row.0 .0 == "outer").unwrap();
    assert_eq!((outer.1.total_ns, outer.1.self_ns, kd.instructions), (Some(15), Some(-5), false));
}
