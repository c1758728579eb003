import { describe, expect, it } from "vitest";
import { exactBridge, meanBridge } from "../src/comparison/bridge";
import type { ExactComparison, Level, MeanLevel, MergedTree, OnlyRow, Row, TreeRow } from "../src/comparison/data";
import { changedNodes, mergedFrames, onlyNodes, pathOf, searchNodes } from "../src/comparison/merged";
import { fine, signed, signedCount, signedHalf, signedShare, tickPercent, tickTime } from "../src/comparison/signed";

function row(name: string, a: number | null, b: number | null): Row {
  const side = (ns: number | null) => (ns === null ? null : { ns, instructions: ns, idle_ns: null, calls: 1 });
  return {
    name,
    module: null,
    kind: "function",
    presence: a === null ? "only_b" : b === null ? "only_a" : "both",
    a: side(a),
    b: side(b),
    change: { ns: (b ?? 0) - (a ?? 0), instructions: null, idle_ns: null, calls: null },
    split: null,
    doubtful: null,
  };
}

/** A row of the walk: what it did by itself in A and in B, and with all below. */
function node(number: number, depth: number, own: Row, totals: [number, number], width: number): TreeRow {
  const [total_a_ns, total_b_ns] = totals;
  const total_change_ns = total_b_ns - total_a_ns;
  return { ...own, depth, total_a_ns, total_b_ns, total_change_ns, width_ns: width, pruned: false, node: number };
}

/** [boot] → a (slower by 4) → gone (took 10, of which below 3); [boot] → b (faster by 2) → fresh (takes 7). */
const GONE = node(2, 2, row("gone", 7, null), [10, 0], 10);
const FRESH = node(5, 2, row("fresh", null, 7), [0, 7], 7);
const TREE: MergedTree = {
  rows: [
    node(0, 0, row("[boot]", 0, 0), [40, 39], 23),
    node(1, 1, row("a", 10, 14), [20, 14], 14),
    GONE,
    node(3, 3, row("below", 3, null), [3, 0], 3),
    node(4, 1, row("b", 20, 18), [20, 25], 9),
    FRESH,
  ],
  vanished: [
    { ...GONE, path: ["a", "gone"], elsewhere: false },
    { ...node(9, 0, row("tiny", 1, null), [1, 0], 1), path: ["a", "deep", "tiny"], elsewhere: true },
  ] as OnlyRow[],
  vanished_sum: { count: 4, total_ns: 13 },
  new: [{ ...FRESH, path: ["b", "fresh"], elsewhere: false }],
  new_sum: { count: 1, total_ns: 7 },
  rest: row("[rest]", 0, 0),
  nodes: 10,
  changed_nodes: 6,
};

describe("the merged tree", () => {
  it("is as wide as its changes, and its frames never wider than what holds them", () => {
    const nodes = changedNodes(TREE);
    expect(nodes.map(({ parent }) => parent)).toEqual([-1, 0, 1, 2, 0, 4]);
    const root = mergedFrames(nodes);
    expect(root?.value).toBe(23);
    expect(root?.children.map((frame) => frame.name)).toEqual(["▼ a −6 ns", "▲ b +5 ns"]);
    for (const [i, { value }] of nodes.entries()) {
      const below = nodes.filter((each) => each.parent === i).reduce((sum, each) => sum + each.value, 0);
      expect(below).toBeLessThanOrEqual(value);
    }
  });

  it("shows below their callers what vanished, with what they called, and adds up to all that vanished", () => {
    const nodes = onlyNodes(TREE, "a");
    const told = nodes.map((each, i) => [pathOf(nodes, i).map((at) => nodes[at]?.label), each.value, each.only]);
    expect(told).toEqual([
      [["[boot]"], 13, null],
      [["[boot]", "a"], 11, null],
      [["[boot]", "a", "gone"], 10, "a"],
      [["[boot]", "a", "gone", "below"], 3, "a"],
      [["[boot]", "a", "deep"], 1, null],
      [["[boot]", "a", "deep", "tiny"], 1, "a"],
      [["[boot]", "(2 smaller ones)"], 2, null],
    ]);
  });

  it("shows what is new apart, and nothing where nothing is", () => {
    expect(onlyNodes(TREE, "b").map((each) => each.label)).toEqual(["[boot]", "b", "fresh"]);
    const none = { ...TREE, new: [], new_sum: { count: 0, total_ns: 0 } };
    expect(mergedFrames(onlyNodes(none, "b"))).toBeNull();
  });

  it("counts a match below a match once", () => {
    const found = searchNodes(changedNodes(TREE), "O");
    expect([...found.hits]).toEqual([0, 2, 3]);
    expect(found.change).toBe(-1);
    expect(searchNodes(changedNodes(TREE), "nowhere").hits.size).toBe(0);
  });
});

describe("the bridge", () => {
  it("has a step for each change and one for the rest, which add up to the whole", () => {
    const rows = Array.from({ length: 20 }, (_, i) => row(`p${i}`, 100, 100 + (i % 2 ? i + 1 : -i - 1)));
    const change = rows.reduce((sum, each) => sum + each.change.ns, 0);
    const totals = row("all", 2000, 2000 + change);
    const none = { ...row("left out", 0, 0), count: 0 };
    const level: Level = { rows, left_out: { ...row("x", 10, 5), count: 3 }, unchanged: none, whole: totals };
    const bridge = exactBridge({ totals } as ExactComparison, level);
    expect(bridge.steps).toHaveLength(13);
    expect(bridge.steps.reduce((sum, step) => sum + step.scaled, 0)).toBe(change - 5);
    expect(bridge.steps[0]?.name).toBe("p19");
  });

  it("is of whole numbers for means, too", () => {
    const mean = (name: string, change_scaled: number) => ({
      name,
      module: "",
      kind: "",
      change_scaled,
      differs: true,
    });
    const level = {
      scale: 9,
      rows: [mean("x", 7), mean("y", -3)],
      whole: { ...mean("all", 4), a_mean_ns: 10, b_mean_ns: 10.44 },
    };
    const bridge = meanBridge(level as unknown as MeanLevel);
    expect(bridge.steps.map((step) => step.scaled)).toEqual([7, -3]);
    expect(bridge.whole).toBe(4);
  });
});

describe("figures of changes", () => {
  it("have their sign, and digits enough to tell A from B", () => {
    expect([fine(1_568_411_682), fine(1_566_280_496), fine(31), fine(null)]).toEqual([
      "1.568412 s",
      "1.566280 s",
      "31 ns",
      "–",
    ]);
    expect([signed(-927_207), signed(12), signed(0)]).toEqual(["−927.207 µs", "+12 ns", "0 ns"]);
    expect([signedCount(-20_890), signedHalf(3), signedHalf(-2_000_001)]).toEqual(["−20,890", "+1.5 ns", "−1.000 ms"]);
    expect([signedShare(-5, 10_000), signedShare(1, 1e8), signedShare(1, 0)]).toEqual(["−0.050 %", "+<0.001 %", "–"]);
  });

  it("lose on an axis only the zeros that say nothing", () => {
    expect([0, 100, 1_500_000_000, 830_000_000].map(tickTime)).toEqual(["0 ns", "100 ns", "1.5 s", "830 ms"]);
    expect([0, 10, 2.5].map(tickPercent)).toEqual(["0 %", "+10 %", "+2.5 %"]);
  });
});
