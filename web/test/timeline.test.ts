import { describe, expect, it } from "vitest";
import { EMPTY, readFragment, withinAxis, writeFragment } from "../src/fragment";
import { calledIn, nearestEdge, ranAt, sums } from "../src/timeline/answers";
import type { Log } from "../src/timeline/console_log";
import { leftOutOf, leftOutText } from "../src/timeline/console_log";
import { countText, placeText } from "../src/timeline/counts";
import { readTimeline, type Timeline, type TrackDescription } from "../src/timeline/data";
import { unsureText } from "../src/timeline/details";
import { find, readQuery, readTime } from "../src/timeline/find";
import { bothGaps, gapsOf, gapText } from "../src/timeline/gaps";
import { Lane } from "../src/timeline/lane";
import { layOut, type Row } from "../src/timeline/layout";
import { paintRow, pixelEnd, type Scene } from "../src/timeline/paint";
import type { Palette } from "../src/timeline/palette";
import { busyness, paintLeftOut } from "../src/timeline/strips";
import type { Target } from "../src/timeline/target";
import { View } from "../src/timeline/view";

/** Numbers from 0 to 1 that are the same in every run. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A lane of bars, most of them tiny, some wide, some points, with gaps of all sizes. */
function invented(seed: number, size: number): Lane {
  const next = chance(seed);
  const start = new Float64Array(size);
  const end = new Float64Array(size);
  let at = 0;
  for (let i = 0; i < size; i++) {
    at += Math.floor(10 ** (next() * 4)) * (next() < 0.3 ? 0 : 1);
    start[i] = at;
    at += next() < 0.1 ? 0 : Math.floor(10 ** (next() * (next() < 0.05 ? 6 : 3)));
    end[i] = at;
  }
  return new Lane(start, end, new Uint32Array(size), new Uint8Array(size));
}

function track(over: Partial<Timeline["tracks"][number]> & { lanes: Lane[] }): Timeline["tracks"][number] {
  const plain = { group: "Boot", label: "Track", role: "", parent: -1, note: "", beside: false };
  return { ...plain, left_out: 0, left_out_ns: 0, ...over };
}

/** What a target is given, without drawing. */
class Recorder implements Target {
  bars: [number, number, number][] = [];
  hatched: [number, number][] = [];
  bar(x: number, _y: number, width: number, _height: number, _look: number, strength: number): void {
    this.bars.push([x, width, strength]);
  }
  rect(): void {}
  frame(): void {}
  unsure(x: number, _y: number, width: number): void {
    this.hatched.push([x, width]);
  }
  text(): void {}
  widthOf(text: string): number {
    return text.length * 6;
  }
}

function sceneOf(lane: Lane, view: View): [Scene, Row] {
  const row: Row = { track: track({ lanes: [lane] }), lane, y: 0, height: 16, life: false, folded: false };
  const palette = { bars: [], patterns: [] } as unknown as Palette;
  const layout = { rows: [row], heads: [], height: 16 };
  const scene = {
    layout,
    view,
    names: ["a"],
    palette,
    ticks: [],
    selection: null,
    instant: null,
    hits: null,
    picked: null,
  };
  return [scene, row];
}

describe("the drawing of a lane", () => {
  it("covers what drawing every bar would cover, to the pixel and in sum, at any zoom", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const lane = invented(seed, 400);
      const next = chance(seed + 1000);
      const last = lane.to(lane.size - 1);
      const view = new View(0, last);
      view.width = 500;
      view.gutter = 100;
      const from = next() * last;
      view.show(from, from + last * 10 ** (-3 * next()));
      const [scene, row] = sceneOf(lane, view);
      const target = new Recorder();
      paintRow(target, scene, row, 0);
      const drawn = new Uint8Array(402);
      for (const [x, width] of target.bars) {
        const high = Math.min(401, Math.ceil(x - 100 + width - 1e-6));
        for (let pixel = Math.max(0, Math.floor(x - 100 + 1e-6)); pixel < high; pixel++) drawn[pixel] = 1;
      }
      for (let i = 0; i < lane.size; i++) {
        const [a, b] = [view.x(lane.from(i)) - 100, view.x(lane.to(i)) - 100];
        if (b <= 0.5 || a >= 399.5) continue;
        // Every bar has ink where it lies: at its middle, or in the pixel that it begins in.
        const middle = Math.floor(Math.max(0, Math.min(399, b - a < 1 ? a : (Math.max(0, a) + Math.min(400, b)) / 2)));
        expect(drawn[middle], `seed ${seed} bar ${i}`).toBe(1);
      }
      // No ink where nothing lies: a blank stretch of three pixels stays blank in its middle.
      for (let pixel = 1; pixel < 399; pixel++) {
        const [low, high] = [view.time(100 + pixel - 1), view.time(100 + pixel + 2)];
        const i = lane.after(low);
        if (i >= lane.size || lane.from(i) > high) expect(drawn[pixel], `seed ${seed} pixel ${pixel}`).toBe(0);
      }
    }
  });

  it("draws together what begins in one pixel, and counts no bar twice or not at all", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const lane = invented(seed, 1000);
      const view = new View(0, lane.to(999));
      let seen = 0;
      for (let i = 0; i < lane.size; ) {
        const next = lane.length(i) < view.pixel ? pixelEnd(lane, view, i) : i + 1;
        expect(next).toBeGreaterThan(i);
        // A bar that is drawn together with others is itself narrow.
        for (let j = i; j < next; j++) expect(next === i + 1 || lane.length(j) <= view.pixel * 1.000001).toBe(true);
        seen += next - i;
        i = next;
      }
      expect(seen).toBe(lane.size);
    }
  });
});

describe("the overview", () => {
  it("has in each pixel what all bars cover of it, whatever their lengths", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const lanes = [invented(seed, 300), invented(seed + 500, 7), invented(seed + 900, 0)];
      const last = lanes.reduce((end, lane) => Math.max(end, lane.to(lane.size - 1)), 1);
      const view = new View(0, last);
      view.width = 190 + 37 * seed;
      const found = busyness({ first: 0, last, names: ["a"], tracks: [track({ lanes })] }, view);
      expect(found.length).toBe(37 * seed);
      found.forEach((busy, x) => {
        const from = x * view.pixel;
        const wanted = lanes.reduce((sum, lane) => sum + lane.covered(from, from + view.pixel), 0) / view.pixel;
        expect(busy).toBeCloseTo(wanted, 6);
      });
    }
  });
});

describe("answers", () => {
  const [one, other] = [invented(5, 300), invented(6, 300)];
  const lanes = [one, other];
  const timeline: Timeline = { first: 0, last: 1e6, names: ["a"], tracks: [track({ lanes })] };

  it("says what ran at an instant as a search through all bars does", () => {
    const next = chance(9);
    for (let n = 0; n < 1000; n++) {
      const time = Math.floor(next() * one.to(299));
      const every = lanes.flatMap((lane) =>
        Array.from(lane.start, (start, i) => [start, lane.to(i)]).filter(([a = 0, b = 0]) => a <= time && time < b),
      );
      expect(ranAt(timeline, time).map(({ lane, i }) => [lane.from(i), lane.to(i)])).toEqual(every);
    }
  });

  it("adds up an interval as a loop over all bars does, and its coverage", () => {
    const next = chance(3);
    for (let n = 0; n < 200; n++) {
      const a = next() * 1e5;
      const b = a + next() * 1e5;
      let sum = 0;
      for (const lane of lanes)
        for (let i = 0; i < lane.size; i++) sum += Math.max(0, Math.min(b, lane.to(i)) - Math.max(a, lane.from(i)));
      expect(sums(timeline, a, b).reduce((total, { time }) => total + time, 0)).toBeCloseTo(sum, 4);
      expect(lanes.reduce((total, lane) => total + lane.covered(a, b), 0)).toBeCloseTo(sum, 4);
    }
  });

  it("names what had the processor first, its system calls by it, and units that are merely active last, in one row", () => {
    const names = ["a.slice", "b.slice", "c.service", "epoll_wait", "setup", "systemd"];
    const lane = (name: number, look: number, from = 0, to = 100): Lane =>
      new Lane(Float64Array.of(from), Float64Array.of(to), Uint32Array.of(name), Uint8Array.of(look));
    const empty = new Lane(new Float64Array(0), new Float64Array(0), new Uint32Array(0), new Uint8Array(0));
    const active = [lane(0, 8), lane(1, 8), lane(2, 8, 40)];
    const timeline: Timeline = {
      first: 0,
      last: 100,
      names,
      tracks: [
        track({ group: "Services", label: "Active units", lanes: active }),
        track({ label: "Phases", role: "phases", lanes: [lane(4, 0)] }),
        track({ label: "systemd (init) · 1", role: "process", lanes: [empty, lane(5, 12, 50, 60)] }),
        track({ label: "system calls", role: "calls", parent: 2, lanes: [lane(3, 13, 60)] }),
      ],
    };
    expect(sums(timeline, 20, 80).map(({ name, time, bars }) => [name, time, bars])).toEqual([
      ["systemd · 1", 10, 1],
      ["setup", 60, 1],
      ["systemd · 1: epoll_wait", 20, 1],
      ["c.service", 40, 1],
      ["2 active throughout", 60, 2],
    ]);
    expect(ranAt(timeline, 55).map((spot) => calledIn(timeline, spot))).toEqual([
      "systemd · 1",
      "setup",
      "a.slice",
      "b.slice",
      "c.service",
    ]);
  });

  it("counts the processes of two boots apart, and a load by its height", () => {
    const bar = new Lane(Float64Array.of(0), Float64Array.of(100), Uint32Array.of(0), Uint8Array.of(12));
    const graph = bar.shifted(0);
    graph.share = Float32Array.of(0.25);
    const process = { label: "kworker · 9", role: "process", lanes: [bar, bar] };
    const tracks = [
      track({ ...process, label: "A kworker · 9", side: "a" }),
      track({ ...process, label: "B kworker · 12", side: "b" }),
      track({ label: "Processors busy, sampled", role: "load", lanes: [graph] }),
    ];
    const found = sums({ first: 0, last: 100, names: ["kworker"], tracks }, 0, 100);
    expect(found.map(({ kind, name, time }) => [kind, name, time])).toEqual([
      ["A Processor time", "kworker · 9", 100],
      ["B Processor time", "kworker · 12", 100],
      ["Processors busy, sampled", "busy", 25],
    ]);
  });

  it("finds the nearest edge, and none beyond the distance", () => {
    const edge = one.from(10);
    expect(nearestEdge({ ...timeline, tracks: [track({ lanes: [one] })] }, edge + 0.2, 1)).toBe(edge);
    expect(nearestEdge(timeline, 1e12, 5)).toBe(1e12);
  });
});

describe("the filter language", () => {
  it("reads words, bounds, kinds, instants and negations", () => {
    expect(readQuery('>10ms <1s kind:initcall at:0.8s is:critical -tty "two words" pci')).toMatchObject({
      least: 1e7,
      most: 1e9,
      groups: ["initcall"],
      at: 8e8,
      critical: true,
      without: ["tty"],
      words: ["two words", "pci"],
      wrong: null,
    });
    expect(readQuery("at:soon").wrong).toBe("at:soon");
    expect([readTime("3"), readTime("250us"), readTime("1.5ms"), readTime("x")]).toEqual([3e9, 250e3, 1.5e6, null]);
  });

  it("finds by name, by track and by length, each bar of a copy once", () => {
    const lane = (name: number, length: number): Lane =>
      new Lane(new Float64Array([5]), new Float64Array([5 + length]), new Uint32Array([name]), new Uint8Array(1));
    const tracks = [
      track({ label: "Initcalls", lanes: [lane(0, 2e7)] }),
      track({ label: "early", parent: 0, lanes: [lane(0, 2e7)] }),
      track({ group: "udev", label: "Uevents", lanes: [lane(1, 5)] }),
    ];
    const timeline: Timeline = { first: 0, last: 100, names: ["pci_init", "add sda"], tracks };
    const count = (text: string): number => find(timeline, readQuery(text)).found.length;
    expect([count("pci"), count("kind:udev"), count(">1ms"), count("-pci"), count("kind:udev pci")]).toEqual([
      1, 1, 1, 1, 0,
    ]);
  });
});

describe("phases whose begin no record shows", () => {
  it("are hatched from the earliest instant to the latest, as far as these are shown", () => {
    const lane = new Lane(
      new Float64Array([0, 4e5]),
      new Float64Array([4e5, 1e6]),
      new Uint32Array(2),
      new Uint8Array(2),
    );
    const view = new View(0, 1e6);
    [view.width, view.gutter] = [1000, 0];
    const [scene, row] = sceneOf(lane, view);
    row.track.unsure = [[4e5, 6e5]];
    const target = new Recorder();
    paintRow(target, scene, row, 0);
    view.show(5e5, 1e6);
    paintRow(target, scene, row, 0);
    view.show(0, 3e5);
    paintRow(target, scene, row, 0);
    expect(target.hatched).toEqual([
      [400, 200],
      [0, 200],
    ]);
    expect(unsureText({ row, i: 0 })).toMatch(/^ends between/);
    expect(unsureText({ row, i: 1 })).toMatch(/^begins between/);
  });
});

describe("the columns", () => {
  const described = {
    first_ns: -5,
    last_ns: 400,
    end_ns: 400,
    spans: 2,
    bytes: 9,
    names: ["a", "b"],
    tracks: [{ ...track({ lanes: [] }), heights: [], lanes: [2] } as unknown as TrackDescription],
  };

  it("are differences, lengths, names and looks, from an origin that may be negative", () => {
    const bytes = new Uint8Array([5, 0xac, 2, 3, 10, 1, 0, 9, 25]);
    const [lane] = readTimeline(described, bytes).tracks[0]?.lanes ?? [];
    expect([...(lane?.start ?? [])]).toEqual([0, 300]);
    expect([...(lane?.end ?? [])]).toEqual([3, 310]);
    expect([lane?.named(0), lane?.lookOf(1), lane?.isCritical(1)]).toEqual([1, 9, true]);
  });

  it("have the heights of a queue beside them, of which the largest fills the lane", () => {
    const tracks = [{ ...described.tracks[0], role: "queue", heights: [3, 12] } as TrackDescription];
    const timeline = readTimeline({ ...described, tracks }, new Uint8Array([5, 0xac, 2, 3, 10, 1, 0, 11, 11]));
    const [lane] = timeline.tracks[0]?.lanes ?? [];
    expect([...(lane?.share ?? [])]).toEqual([0.25, 1]);
    expect([lane?.tallest(0, 1), lane?.tallest(0, 2), lane?.shifted(5).tallest(0, 1)]).toEqual([0.25, 1, 0.25]);
    expect(sums(timeline, -5, 400).map(({ name, time, bars }) => [name, time, bars])).toEqual([
      ["any number waiting", 13, 2],
    ]);
  });

  it("that end too early are an error in words", () => {
    expect(() => readTimeline(described, new Uint8Array([5, 1, 3]))).toThrow("incomplete");
    const liar = { ...described, tracks: [{ ...described.tracks[0], lanes: [1e9] } as TrackDescription] };
    expect(() => readTimeline(liar, new Uint8Array(20))).toThrow("incomplete");
  });
});

describe("the address", () => {
  it("gives back what it was given, and ignores what is damaged", () => {
    const seen = {
      view: [1, 2e9] as [number, number],
      selection: [-3, 4] as [number, number],
      instant: 7,
      picked: [1, 0, 12] as [number, number, number],
      query: "kind:initcall <&#",
      place: 1,
      folded: ["g:Boot", "t:3"],
      scroll: 900,
      page: { unit: "time", phase: "a=b&c" },
      boot: "0badcafe",
    };
    expect(readFragment(writeFragment(seen))).toEqual(seen);
    expect(readFragment("#flame")).toBeNull();
    expect(readFragment("#v=NaN~2&s=1&p=x")).toMatchObject({ view: null, selection: null, picked: null });
  });

  it("has intervals in order, and takes empty text for nothing", () => {
    expect(readFragment("#s=9~3&v=1e300~-1e300")).toMatchObject({ selection: [3, 9], view: [-1e300, 1e300] });
    const nothing = { view: null, selection: null, instant: null, picked: null };
    expect(readFragment("#s=~&v=~&t=&p=~~")).toMatchObject(nothing);
    expect(readFragment("#s=~5&v=+~+&t=+&p=0~~1")).toMatchObject(nothing);
  });

  it("has no times beside the axis", () => {
    const on = (hash: string) => withinAxis(readFragment(hash) ?? EMPTY, 100, 900);
    expect(on("#s=-1e300~1e300&v=50~200&t=100")).toMatchObject({
      selection: [100, 900],
      view: [100, 200],
      instant: 100,
    });
    expect(on("#s=-9~3&v=901~1e300&t=1e300")).toMatchObject({ selection: null, view: null, instant: null });
    expect(on("#s=5&t=-5")).toMatchObject({ selection: null, view: null, instant: null });
    expect(on("#s=900~900&t=900")).toMatchObject({ selection: [900, 900], instant: 900 });
  });
});

describe("the count of a search", () => {
  const log = (found: number[], side?: "A" | "B"): Log => ({
    time_ns: [1, 2, 3],
    text: ["a", "b", "c"],
    found,
    ...(side ? { side } : {}),
  });

  it("names each kind that was found", () => {
    expect(countText({ bars: 1, total: 2e6, logs: [log([])] })).toBe("1 bar, 2.00 ms together");
    expect(countText({ bars: 0, total: 0, logs: [log([0], "A"), log([1, 2], "B")] })).toBe(
      "1 console line of A, and 2 console lines of B",
    );
  });

  it("numbers a find among all", () => {
    expect(placeText({ bars: 0, total: 0, logs: [log([0, 1, 2])] }, 1)).toBe("2 of 3 console lines");
    expect(placeText({ bars: 0, total: 0, logs: [log([0], "A"), log([1], "B")] }, 1)).toBe(
      "2 of 2 finds: 1 console line of A, and 1 console line of B",
    );
    expect(placeText({ bars: 2, total: 3e6, logs: [log([0])] }, 2)).toBe(
      "3 of 3 finds: 2 bars, 3.00 ms together, and 1 console line",
    );
  });
});

describe("a console of which the page has a part", () => {
  const log: Log = { time_ns: [10, 20, null, null, 80, 90], text: ["a", "b", "c", "d", "e", "f"], lines: 1006 };
  const texts = (shown: Log, from: number, to: number): string[] => {
    const drawn: string[] = [];
    const target = { rect: () => 0, unsure: () => 0, widthOf: (text: string) => text.length };
    const view = new View(0, 100);
    view.show(from, to);
    paintLeftOut(
      { ...target, text: (_x: number, _y: number, text: string) => drawn.push(text) } as never,
      view,
      shown,
      0,
      {} as never,
    );
    return drawn;
  };

  it("says which lines it has", () => {
    expect(leftOutOf(log)).toEqual({ lines: 1000, from: 20, to: 80 });
    expect(leftOutText([log])).toBe("Of the 1,006 console lines, this page has the first 3 and the last 3.");
    expect(
      leftOutText([
        { ...log, lines: 6 },
        { ...log, side: "B" },
      ]),
    ).toBe("Of the 1,006 console lines of B, this page has the first 3 and the last 3.");
  });

  it("has nothing to say where it has all", () => {
    expect(leftOutOf({ ...log, lines: 6 })).toBeNull();
    expect(leftOutText([{ time_ns: [1], text: ["a"] }])).toBe("");
  });

  it("draws where the others were", () => {
    expect(texts(log, 0, 100)).toEqual(["1,000 lines are not in this page"]);
    expect(texts({ ...log, lines: 6 }, 0, 100)).toEqual([]);
  });
});

describe("gaps", () => {
  const a = { start_ns: [0, 30], end_ns: [10, 90], gap_ns: [10, 60] };
  const b = { start_ns: [5], end_ns: [25], gap_ns: [20] };

  it("of one console are in order of their length", () => {
    expect(gapsOf(a)).toEqual([
      { from: 30, to: 90 },
      { from: 0, to: 10 },
    ]);
    expect(gapText("3 ms", 1, 2)).toBe("Gap 1 of 2: 3 ms without a console line");
  });

  it("of two consoles are one list on the axis of A", () => {
    expect(bothGaps(a, b, 100)).toEqual([
      { from: 30, to: 90, side: "A" },
      { from: 105, to: 125, side: "B" },
      { from: 0, to: 10, side: "A" },
    ]);
    expect(gapText("3 ms", 1, 2, "B")).toBe("Gap 1 of 2: 3 ms without a console line of B");
  });
});

describe("the layout", () => {
  it("folds groups into one row, and details away", () => {
    const lanes = [invented(1, 3)];
    const tracks = [track({ label: "Initcalls", lanes }), track({ label: "early", parent: 0, lanes })];
    const open = layOut(tracks, new Set(), () => true);
    expect(open.heads.map((head) => head.label)).toEqual(["Boot", "Initcalls", "early"]);
    expect(layOut(tracks, new Set(["t:0"]), () => true).heads.map((head) => head.label)).toEqual(["Boot", "Initcalls"]);
    const folded = layOut(tracks, new Set(["g:Boot"]), () => true);
    expect(folded.heads.map((head) => head.open)).toEqual([false]);
    expect(folded.rows.every((row) => row.folded)).toBe(true);
    expect(folded.height).toBeLessThan(open.height);
  });
});
