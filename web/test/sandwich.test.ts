import { describe, expect, it } from "vitest";
import { callees, callers } from "../src/sandwich";
import type { Frame } from "../src/tree";

let node = 0;
function frame(name: string, self: number, ...children: Frame[]): Frame {
  const value = self + children.reduce((sum, child) => sum + child.value, 0);
  return { node: node++, name, kind: "function", value, children };
}

/** `f` is called by a, by b, and by itself below b. */
const ROOT = frame(
  "[boot]",
  1,
  frame("a", 2, frame("f", 10, frame("x", 5), frame("y", 1))),
  frame("b", 3, frame("f", 20, frame("x", 7), frame("f", 4))),
);

describe("the sandwich of a function", () => {
  it("adds up its cost over all paths, a recursion once", () => {
    expect(callers(ROOT, "f").nodes[0]?.value).toBe(47);
    expect(callees(ROOT, "f").nodes[0]?.value).toBe(47);
  });

  it("divides the cost among the callers, up to the root", () => {
    const [top] = callers(ROOT, "f").nodes;
    expect(top?.children.map(({ name, value }) => [name, value]).sort()).toEqual([
      ["a", 16],
      ["b", 31],
    ]);
    expect(top?.children.every(({ children }) => children[0]?.name === "[boot]")).toBe(true);
  });

  it("merges what it called by name", () => {
    const [top] = callees(ROOT, "f").nodes;
    expect(top?.children.map(({ name, value }) => [name, value]).sort()).toEqual([
      ["f", 4],
      ["x", 12],
      ["y", 1],
    ]);
  });

  it("of a function that did not run is empty", () => {
    expect(callers(ROOT, "g").nodes).toEqual([]);
  });
});
