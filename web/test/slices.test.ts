import { describe, expect, it } from "vitest";
import { Slices } from "../src/slices";
import { measure } from "../src/tree";
import type { PageData } from "../src/types";

// [boot] calls a, and there is [idle]; a runs in three slices, and the second one idles.
const NODES = [
  [0, 3, 0],
  [0, 1, 1],
  [1, 0, 4],
  [10, 9, 15],
];
const FUNCTIONS = [
  [3, 3, 0, 1],
  [0, 1, 1, 0, 1, 1, 2],
  [0, 0, 0, 1, 0, 3, 1],
  [10, 9, 12, 0, 0, 0, 0],
  [0, 0, 0, 10, 9, 12, 3],
];
// Of the processes one runs in the first and the last slice; of the user functions one calls, and small ones run.
const PROCESSES = [
  [0, 2, 0],
  [0, 2],
  [1, 1],
  [7, 4],
];
const USER_FUNCTIONS = [
  [2, 1],
  [0, 2, 2],
  [5, 2, 1],
  [1, 0, 0],
  [2, 1, 0],
];
const BYTES = new Uint8Array([[7, 7], ...NODES, ...FUNCTIONS, ...PROCESSES, ...USER_FUNCTIONS].flat());
const ABOUT = {
  end_ns: [10, 25, 40],
  instructions: [10, 9, 15],
  idle_ns: [0, 6, 0],
  recorded: 3,
  shift: 0,
  idle_node: 2,
  idle_function: 2,
  idle_functions: [0, 2],
  smaller: 4,
  processes: { idle_node: 2, smaller: 9 },
  bytes: BYTES.length - 2,
};
const SIZES = { nodes: 3, functions: 3, processes: 3, user_functions: 1 };
const SLICES = new Slices(ABOUT, BYTES, SIZES);
const TREE = { parent: [-1, 0, 0] };
const DATA = { tree: TREE, process_tree: { ...TREE }, sliced: SLICES } as unknown as PageData;

describe("slices of time", () => {
  it("snap to the nearest edges, and are never none", () => {
    expect(SLICES.snapped([0, 40])).toEqual([0, 2]);
    expect(SLICES.snapped([4, 30])).toEqual([0, 1]);
    expect(SLICES.snapped([16, 18])).toEqual([1, 1]);
    expect(SLICES.snapped([900, 901])).toEqual([2, 2]);
  });

  it("sum to the tree, idle time among it", () => {
    const { calls, total } = measure(DATA, null, [1, 2]);
    expect([...calls]).toEqual([0, 4, 0]);
    expect([...total.instructions]).toEqual([24, 24, 0]);
    expect([...total.time]).toEqual([30, 24, 6]);
    expect(SLICES.sums([1, 2])).toEqual({ instructions: 24, idle: 6 });
  });

  it("sum to the functions, with a row for idle time where there is some", () => {
    const first = SLICES.functions([0, 0]);
    expect([...first.keys()]).toEqual([0, 1]);
    const some = SLICES.functions([0, 1]);
    expect(some.get(1)).toEqual({ count: 1, total: 19, self: 19 });
    expect(some.get(2)).toEqual({ count: 0, total: 0, self: 0 });
    expect(SLICES.functions([2, 2]).get(3)).toEqual({ count: 1, total: 3, self: 3 });
  });

  it("sum to the processes, with a node for idle time", () => {
    const { calls, self } = measure({ ...DATA, tree: DATA.process_tree }, null, [0, 1]);
    expect([...calls]).toEqual([0, 1, 0]);
    expect([...self.instructions]).toEqual([0, 7, 0]);
    expect([...self.time]).toEqual([0, 7, 6]);
  });

  it("sum to the user functions, small ones in one row", () => {
    expect(SLICES.userFunctions([0, 1])).toEqual(new Map([[0, { self: 5, calls: 1, below: 2 }]]));
    expect(SLICES.userFunctions([2, 2])).toEqual(
      new Map([
        [0, { self: 2, calls: 0, below: 1 }],
        [1, { self: 1, calls: 0, below: 0 }],
      ]),
    );
  });

  it("have no processes where these were not followed", () => {
    const bytes = BYTES.slice(0, BYTES.length - [...PROCESSES, ...USER_FUNCTIONS].flat().length);
    const without = new Slices({ ...ABOUT, processes: null, bytes: bytes.length - 2 }, bytes, SIZES);
    expect(without.userFunctions([0, 2]).size).toBe(0);
    const { self } = measure({ ...DATA, tree: DATA.process_tree, sliced: without }, null, [0, 2]);
    expect([...self.instructions]).toEqual([0, 0, 0]);
  });

  it("are not read where bytes are missing", () => {
    expect(() => new Slices({ ...ABOUT, bytes: 5 }, BYTES.slice(0, 7), SIZES)).toThrow("incomplete");
    expect(() => new Slices({ ...ABOUT, bytes: BYTES.length - 3 }, BYTES.slice(0, -1), SIZES)).toThrow("incomplete");
  });
});
