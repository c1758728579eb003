import { describe, expect, it } from "vitest";
import { block, consoleLine, cutInMiddle, quoted, typeset, visible } from "../src/text";

describe("visible", () => {
  it("leaves ordinary names as they are", () => {
    expect(visible("___slab_alloc.constprop.0 [ext4] é 界")).toBe("___slab_alloc.constprop.0 [ext4] é 界");
  });

  it("names controls, direction overrides and invisible characters instead of obeying them", () => {
    expect(visible("a\u0000b\u001b[31mc\u202ed\u200be")).toBe("a‹U+0000›b‹U+001B›[31mc‹U+202E›d‹U+200B›e");
  });

  it("replaces a lone surrogate and keeps a pair", () => {
    expect(visible("\ud83d!\ud83d\ude00")).toBe("\ufffd!\ud83d\ude00");
  });

  it("cuts what is too long and says how long it was", () => {
    expect(visible("x".repeat(10_000), 3)).toBe("xxx… (10,000 characters)");
  });
});

describe("quoted", () => {
  const plain = (text: string) => ({ text, code: false });
  const code = (text: string) => ({ text, code: true });

  it("sets words in backquotes apart", () => {
    expect(quoted("add `a=1 b`, then `c`", 110)).toEqual([plain("add "), code("a=1 b"), plain(", then "), code("c")]);
    expect(quoted("`a` or b", 110)).toEqual([code("a"), plain(" or b")]);
    expect(quoted("", 110)).toEqual([]);
  });

  it("cuts inside quoted words without leaving a backquote", () => {
    expect(quoted("add `abcdef` now", 7)).toEqual([plain("add "), code("abc"), plain(" …")]);
    expect(quoted("add `abc` now", 7)).toEqual([plain("add "), code("abc"), plain(" …")]);
    expect(quoted("add `abc`", 7)).toEqual([plain("add "), code("abc")]);
    expect(quoted("add `abc` now", 4)).toEqual([plain("add "), plain(" …")]);
    for (let max = 0; max < 20; max++)
      expect(
        quoted("add `abcdef`, `g` or `h`", max)
          .map((part) => part.text)
          .join(""),
      ).not.toContain("`");
  });

  it("shows what a missing backquote leaves open as code", () => {
    expect(quoted("add `abc… (300 characters)", 110)).toEqual([plain("add "), code("abc… (300 characters)")]);
  });

  it("shows hostile text as signs", () => {
    expect(quoted("`\u202ea`", 110)).toEqual([code("‹U+202E›a")]);
  });
});

describe("consoleLine", () => {
  it("takes terminal escapes out and keeps what they dressed", () => {
    expect(consoleLine("[\u001b[0;32m  OK  \u001b[0m] \u001b]0;title\u0007Reached\tit\r")).toBe(
      "[  OK  ] Reached    it",
    );
  });

  it("survives an escape that never ends", () => {
    expect(consoleLine("a\u001b]0;b")).toBe("a");
    expect(consoleLine("a\u001b")).toBe("a‹U+001B›");
  });
});

describe("block", () => {
  it("keeps lines and columns", () => {
    expect(block("acpi\tLNXCPU:00\t\npci\u001b[1m\tb\n\n")).toBe("acpi    LNXCPU:00    \npci    b");
  });
});

describe("cutInMiddle", () => {
  it("keeps both ends of a long name and a short name as it is", () => {
    expect(cutInMiddle("sys-devices-pci-usb1.device", 11)).toBe("sys-d…evice");
    expect(cutInMiddle("ssh.service", 11)).toBe("ssh.service");
  });

  it("shows controls at both ends", () => {
    expect(cutInMiddle(`\u0007${"a".repeat(20)}\u0007`, 9)).toBe("‹U+0007›aaa…aaa‹U+0007›");
  });
});

describe("typeset", () => {
  it("gives figures of sentences the signs of the page, and leaves names", () => {
    expect(typeset("caused by a-1 (-2.800 ms), wait_us (+665.054 us)")).toBe(
      "caused by a-1 (−2.800 ms), wait_us (+665.054 µs)",
    );
    expect(typeset("-32.216 us: moved")).toBe("−32.216 µs: moved");
  });
});
