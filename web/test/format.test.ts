import { describe, expect, it } from "vitest";
import { exact, instructions, share, stamp, time } from "../src/format";

describe("figures", () => {
  it("scale to three significant digits", () => {
    expect([time(1_584_123_456), time(12_345_678), time(640), time(0)]).toEqual([
      "1.58 s",
      "12.3 ms",
      "640 ns",
      "0 ns",
    ]);
    expect([instructions(1_584_123_456), instructions(640), instructions(0)]).toEqual(["1.58 G", "640", "0"]);
  });

  it("that are not known are a dash, never zero", () => {
    expect([time(null), instructions(undefined), exact(null), share(null, 5), share(3, 0)]).toEqual(Array(5).fill("–"));
  });

  it("never round a share down to nothing", () => {
    expect([share(1, 1_000_000), share(0, 10), share(1, 200), share(1, 3)]).toEqual([
      "< 0.01 %",
      "0 %",
      "0.50 %",
      "33.3 %",
    ]);
  });

  it("stamp a line as the kernel does", () => {
    expect([stamp(1_234_567_890), stamp(null)]).toEqual(["1.234568", ""]);
  });
});
