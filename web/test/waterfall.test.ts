import { describe, expect, it } from "vitest";
import { chosenLanes, type Lane } from "../src/waterfall";

const lane = (name: string, waited: number, worked: number, always = false): Lane => ({
  name,
  text: name,
  parts: [
    { start: 0, end: waited, fill: "wait" },
    { start: waited, end: waited + worked, fill: "work" },
  ],
  rank: worked,
  always,
});

const names = (lanes: Lane[]): string[] => lanes.map((each) => each.name);

describe("chosenLanes", () => {
  it("ranks by the rank, not by the length with waiting, and keeps the order", () => {
    const lanes = [lane("waits", 1000, 1), lane("works", 0, 50), lane("both", 500, 20)];
    expect(names(chosenLanes(lanes, 2, 2000))).toEqual(["works", "both"]);
  });

  it("takes those that are always drawn first, even beyond the number", () => {
    const lanes = [lane("path", 0, 1, true), lane("works", 0, 50), lane("goal", 0, 2, true)];
    expect(names(chosenLanes(lanes, 2, 2000))).toEqual(["path", "goal"]);
    expect(names(chosenLanes(lanes, 1, 2000))).toEqual(["path", "goal"]);
  });

  it("ranks a lane without rank by the length of its parts, to the end where one did not end", () => {
    const open: Lane = { name: "open", text: "", parts: [{ start: 10, end: null, fill: "" }] };
    const short: Lane = { name: "short", text: "", parts: [{ start: 0, end: 80, fill: "" }] };
    expect(names(chosenLanes([short, open], 1, 100))).toEqual(["open"]);
  });
});
