import { describe, expect, it } from "vitest";
import { flameLanes, type SliceOwn } from "../src/flame_chart/lanes";
import type { Lane } from "../src/timeline/lane";

/** Numbers from 0 to 1 that are the same in every run. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function bars(lanes: Lane[]): [number, number, number, number][] {
  return lanes.flatMap((lane, depth) =>
    [...lane.name].map((node, i): [number, number, number, number] => [depth, node, lane.from(i), lane.to(i)]),
  );
}

/** Which nodes of an invented tree ran in each slice, and how long. */
function invented(seed: number): { parent: number[]; slices: SliceOwn[] } {
  const next = chance(seed);
  const parent = [-1, ...Array.from({ length: 60 }, (_, i) => Math.floor(next() * (i + 1)))];
  let from = 0;
  const slices = Array.from({ length: 25 }, () => {
    const nodes = parent.map((_, node) => node).filter(() => next() < 0.3);
    const own = nodes.map(() => 1 + Math.floor(10 ** (next() * 5)));
    const slice = { from, nodes, own };
    from += own.reduce((sum, each) => sum + each, 0);
    return slice;
  });
  return { parent, slices };
}

function depthOf(parent: number[], node: number): number {
  let depth = -1;
  for (let at = node; (parent[at] ?? -1) >= 0; at = parent[at] ?? -1) depth++;
  return depth;
}

describe("the flame chart", () => {
  it("draws what goes on over an edge as one frame", () => {
    // [boot] calls a, which calls b; c runs in the second slice alone; a goes on in it and in the third.
    const slices = [
      { from: 0, nodes: [1, 2], own: [4, 6] },
      { from: 10, nodes: [2, 3], own: [5, 5] },
      { from: 20, nodes: [1], own: [3] },
    ];
    const lanes = flameLanes([-1, 0, 1, 0], slices, (node) => node);
    expect(bars(lanes)).toEqual([
      [0, 1, 0, 12],
      [0, 3, 12, 17],
      [0, 1, 17, 23],
      [1, 2, 4, 12],
      [1, 2, 17, 20],
    ]);
    expect(lanes[0]?.lookOf(1)).toBe(3);
  });

  it("has of every node in every slice exactly what it took with all that it called", () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { parent, slices } = invented(seed);
      const lanes = flameLanes(parent, slices, () => 0);
      slices.forEach((slice, s) => {
        const to = slices[s + 1]?.from ?? Number.POSITIVE_INFINITY;
        const expected = new Map<number, number>();
        slice.nodes.forEach((node, i) => {
          for (let at = node; at > 0; at = parent[at] ?? -1)
            expected.set(at, (expected.get(at) ?? 0) + (slice.own[i] ?? 0));
        });
        const found = new Map<number, number>();
        for (const [, node, start, end] of bars(lanes)) {
          const part = Math.min(end, to) - Math.max(start, slice.from);
          if (part > 0) found.set(node, (found.get(node) ?? 0) + part);
        }
        expect(found).toEqual(expected);
      });
    }
  });

  it("has frames that do not overlap, each within a frame of its caller", () => {
    const { parent, slices } = invented(9);
    const lanes = flameLanes(parent, slices, () => 0);
    const all = bars(lanes);
    for (const lane of lanes)
      for (let i = 1; i < lane.size; i++) expect(lane.from(i)).toBeGreaterThanOrEqual(lane.to(i - 1));
    for (const [depth, node, from, to] of all) {
      expect(depth).toBe(depthOf(parent, node));
      if (depth === 0) continue;
      const caller = parent[node];
      expect(all.some(([, each, start, end]) => each === caller && start <= from && to <= end)).toBe(true);
    }
  });

  it("is empty without slices, and deep trees are not trouble", () => {
    expect(flameLanes([-1], [], () => 0)).toEqual([]);
    const parent = Array.from({ length: 401 }, (_, i) => i - 1);
    const lanes = flameLanes(parent, [{ from: 0, nodes: [400], own: [7] }], () => 0);
    expect(lanes.length).toBe(400);
    expect(lanes.every((lane) => lane.size === 1 && lane.to(0) === 7)).toBe(true);
  });
});
