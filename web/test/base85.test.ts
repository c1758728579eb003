import { describe, expect, it } from "vitest";
import { fromBase85 } from "../src/base85";

// Made by `firstlight.render.page.html.packed` without gzip.
describe("base 85", () => {
  it("gives the bytes, also where the last group is short", () => {
    expect([...fromBase85("")]).toEqual([]);
    expect([...fromBase85("00")]).toEqual([0]);
    expect([...fromBase85("009")]).toEqual([0, 1]);
    expect([...fromBase85("|NsC0")]).toEqual([255, 255, 255, 255]);
    expect([...fromBase85("009C6")]).toEqual([0, 1, 2, 3]);
  });

  it("says what is wrong with a text that is none", () => {
    expect(() => fromBase85("0")).toThrow("incomplete");
    expect(() => fromBase85("00<00")).toThrow("damaged");
    expect(() => fromBase85("00é00")).toThrow("damaged");
    expect(() => fromBase85("~~~~~")).toThrow("damaged");
  });
});
