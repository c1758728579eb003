/** Text from a boot is hostile: it goes into the page as text only, and what would bend the line is made visible. */

const MAX = 400;
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

function name(control: string): string {
  const code = control.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
}

/** The text with control characters, direction overrides and lone surrogates shown as signs, cut at `max` characters. */
export function visible(text: string, max = MAX): string {
  const short = text.length > max ? `${text.slice(0, max)}… (${text.length.toLocaleString("en")} characters)` : text;
  return short.replace(CONTROLS, name);
}

/** A sentence with the signs of the page's own figures: `-3.2 us` as `−3.2 µs`. */
export function typeset(sentence: string): string {
  return sentence.replace(/(?<=^|[\s(])-(?=\d)/g, "−").replace(/(?<=\d )us\b/g, "µs");
}

/** The text of at most `max` characters, cut in the middle: names of units and devices differ at both ends. */
export function cutInMiddle(text: string, max: number): string {
  if (text.length <= max) return visible(text);
  const head = Math.ceil((max - 1) / 2);
  return `${visible(text.slice(0, head))}…${visible(text.slice(text.length - (max - 1 - head)))}`;
}

/** A part of a text with words in backquotes. */
export interface Quoted {
  text: string;
  /** Whether it stood in backquotes. */
  code: boolean;
}

/**
 * The text in parts, words in backquotes apart, of at most `max` characters without the quotes. What is cut off becomes
 * an ellipsis outside the quotes, so a cut leaves no backquote behind.
 */
export function quoted(text: string, max: number): Quoted[] {
  const found: Quoted[] = [];
  let left = max;
  for (const [place, part] of text.split("`").entries()) {
    if (part === "") continue;
    const code = place % 2 === 1;
    if (part.length > left) {
      if (left > 0) found.push({ text: visible(part.slice(0, left)), code });
      found.push({ text: " …", code: false });
      return found;
    }
    found.push({ text: visible(part), code });
    left -= part.length;
  }
  return found;
}

/** A console line: colours and other terminal escapes taken out, tabs widened, the rest made visible. */
export function consoleLine(text: string): string {
  return visible(text.replace(ESCAPES, "").replace(/\r+$/g, "").replace(/\t/g, "    "), 5000);
}

/** Text of several lines, each as a console line. */
export function block(text: string): string {
  return text.replace(/\n+$/, "").split("\n").map(consoleLine).join("\n");
}
