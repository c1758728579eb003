import { describe, expect, it } from "vitest";
import { compares, readFigure, readTerms, rowFilter, says } from "../src/filter";
import type { Timeline } from "../src/timeline/data";
import { asks, find, readQuery } from "../src/timeline/find";
import { Lane } from "../src/timeline/lane";

describe("the terms of a filter", () => {
  it("have a field, an operator, a value and a sign", () => {
    expect(readTerms('pci -tty "two words" Dur>=1.5ms name~"a b" -kind:udev')).toEqual([
      { not: false, field: null, operator: "~", value: "pci", typed: "pci" },
      { not: true, field: null, operator: "~", value: "tty", typed: "-tty" },
      { not: false, field: null, operator: "~", value: "two words", typed: '"two words"' },
      { not: false, field: "dur", operator: ">=", value: "1.5ms", typed: "dur>=1.5ms" },
      { not: false, field: "name", operator: "~", value: "a b", typed: 'name~"a b"' },
      { not: true, field: "kind", operator: ":", value: "udev", typed: "-kind:udev" },
    ]);
    expect(readTerms("")).toEqual([]);
  });

  it("have figures with units", () => {
    expect(["10ms", "3k", "2m", "1g", "7", "-1.5us", "x", "1 s", ""].map(readFigure)).toEqual([
      1e7,
      3e3,
      2e6,
      1e9,
      7,
      -1500,
      null,
      null,
      null,
    ]);
    expect([compares(1, ">", 1), compares(1, ">=", 1), compares(1, "<", 1), compares(1, "<=", 1)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([says("ABC", "=", "abc"), says("ABC", "=", "ab"), says("ABC", "~", "b")]).toEqual([true, false, true]);
  });
});

describe("a filter of rows", () => {
  const rows = [
    { name: "pci_init", level: "subsys", duration: 5e6, note: null },
    { name: "usb:1-2", level: "device", duration: 2e5, note: null },
    { name: "acpi_init", level: "subsys", duration: null, note: "late" },
  ];
  type Row = (typeof rows)[number];
  const columns = (["name", "level", "duration", "note"] as const).map((id) => ({
    names: [id as string],
    value: (row: Row) => row[id],
  }));
  const found = (text: string): string[] => {
    const filter = rowFilter(text, (row: Row) => `${row.name} ${row.level}`, columns);
    return rows.filter(filter.matches).map((row) => row.name);
  };

  it("looks at words, columns and figures", () => {
    expect(found("")).toEqual(["pci_init", "usb:1-2", "acpi_init"]);
    expect(found("INIT subsys")).toEqual(["pci_init", "acpi_init"]);
    expect(found("init -acpi")).toEqual(["pci_init"]);
    expect(found("name~pci dur>1ms")).toEqual(["pci_init"]);
    expect(found("duration<=200us")).toEqual(["usb:1-2"]);
    expect(found("-dur>1ms")).toEqual(["usb:1-2", "acpi_init"]);
    expect(found("level=sub")).toEqual([]);
    expect(found("note:late")).toEqual(["acpi_init"]);
    expect(found("usb:1")).toEqual(["usb:1-2"]);
  });

  it("names what means nothing, and filters nothing by it", () => {
    const filter = rowFilter("size>3 name>1ms dur>long pci", (row: Row) => row.name, columns);
    expect(filter.wrong).toEqual(["size>3", "dur>long"]);
  });
});

describe("a query of the timeline", () => {
  it("has the same terms", () => {
    const lane = (name: number, start: number, length: number): Lane =>
      new Lane(
        new Float64Array([start]),
        new Float64Array([start + length]),
        new Uint32Array([name]),
        new Uint8Array(1),
      );
    const plain = { role: "", parent: -1, note: "", beside: false, left_out: 0, left_out_ns: 0 };
    const timeline: Timeline = {
      first: 1000,
      last: 9e9,
      names: ["pci_init", "add sda"],
      tracks: [
        { ...plain, group: "Kernel", label: "Initcalls", lanes: [lane(0, 1000 + 1e9, 1e6)] },
        { ...plain, group: "udev", label: "Uevents", lanes: [lane(1, 1000, 5)] },
      ],
    };
    const count = (text: string): number => find(timeline, readQuery(text)).found.length;
    const cases: [string, number][] = [
      ["kind:initcall dur>=1ms name~pci", 1],
      ["dur>1ms", 0],
      ["dur<1ms", 1],
      ["dur<=1ms", 2],
      ["name=pci_init", 1],
      ["name=pci", 0],
      ["-name~pci", 1],
      ["-kind:udev", 1],
      ["-track:initcalls", 1],
      ["start>0.5s", 1],
      ["end<=1us", 1],
      ["start>=0 start<=0", 1],
    ];
    expect(cases.map(([text]) => count(text))).toEqual(cases.map(([, number]) => number));
    expect(readQuery("-name~pci").names).toEqual([{ not: true, operator: "~", value: "pci" }]);
    expect(["dur>x", "dur:1", "start~1", "is:big", "name>3", "-dur>1ms"].map((text) => readQuery(text).wrong)).toEqual([
      "dur>x",
      "dur:1",
      "start~1",
      "is:big",
      "name>3",
      "-dur>1ms",
    ]);
    expect(readQuery("usb:1-2").words).toEqual(["usb:1-2"]);
    expect([asks(readQuery("at:1s")), asks(readQuery("start>1s")), asks(readQuery("-kind:udev"))]).toEqual([
      false,
      true,
      true,
    ]);
  });
});
