import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ALPHABET } from "../src/base85";
import { check, DATA_VERSION, unpack } from "../src/data";
import { frames, label, measure, path, search } from "../src/tree";
import type { PageData } from "../src/types";

/** [boot] → a → (b → a [ext4], two folded), with one phase in which only b ran. */
const DATA = {
  format: "firstlight-page",
  version: DATA_VERSION,
  strings: ["[boot]", "a", "b", "root", "function", "ext4", "", "folded"],
  tree: {
    parent: [-1, 0, 1, 2, 1],
    name: [0, 1, 2, 1, 6],
    module: [-1, -1, -1, 5, -1],
    kind: [3, 4, 4, 4, 7],
    calls: [0, 1, 4, 8, 9],
    self_instructions: [0, 10, 20, 30, 5],
    self_ns: [0, 10, 25, 30, 5],
    folded: [0, 0, 0, 0, 2],
  },
  phase_tree: { late: { node: [2], calls: [3], self_instructions: [15], self_ns: [16] } },
} as unknown as PageData;

describe("the tree", () => {
  it("adds up at every level, in both units", () => {
    const { total } = measure(DATA, null);
    expect([...total.instructions]).toEqual([65, 65, 50, 30, 5]);
    expect([...total.time]).toEqual([70, 70, 55, 30, 5]);
  });

  it("holds only what ran in the chosen phase", () => {
    const late = measure(DATA, ["late"]);
    expect([...late.total.instructions]).toEqual([15, 15, 15, 0, 0]);
    expect(late.calls[2]).toBe(3);
    const tree = frames(DATA, late, "instructions");
    expect(tree?.children[0]?.children.map((frame) => frame.name)).toEqual(["b"]);
    expect(tree?.children[0]?.children[0]?.children).toEqual([]);
  });

  it("is absent where nothing ran", () => {
    expect(frames(DATA, measure(DATA, ["constructor"]), "time")).toBeNull();
    expect(frames(DATA, measure(DATA, ["no such phase"]), "time")).toBeNull();
  });

  it("names modules and folded frames", () => {
    expect([label(DATA, 3), label(DATA, 4)]).toEqual(["a [ext4]", "(2 smaller)"]);
    expect(path(DATA, 3)).toEqual([0, 1, 2, 3]);
  });

  it("counts a match below a match once", () => {
    const { total } = measure(DATA, null);
    const found = search(DATA, total.instructions, " A");
    expect([...found.hits]).toEqual([1, 3, 4]);
    expect(found.sum).toBe(65);
    expect(search(DATA, total.instructions, "  ").hits.size).toBe(0);
  });
});

function toBase85(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 4) {
    let value = 0;
    for (let k = i; k < i + 4; k++) value = value * 256 + (bytes[k] ?? 0);
    let group = "";
    for (let k = 0; k < 5; k++, value = Math.floor(value / 85)) group = ALPHABET[value % 85] + group;
    text += group.slice(0, Math.min(4, bytes.length - i) + 1);
  }
  return text;
}

describe("the data", () => {
  it("come out as they went in", async () => {
    const packed = toBase85(gzipSync(JSON.stringify(DATA)));
    expect(await unpack(`\n${packed}\n`)).toEqual(DATA);
  });

  it("that are absent, foreign or of another version are refused in words", async () => {
    await expect(unpack("")).rejects.toThrow("carries no boot");
    expect(() => check(null)).toThrow("not a boot");
    expect(() => check({ ...DATA, version: 99 })).toThrow("version 99");
  });
});
