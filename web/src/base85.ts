/** Base 85: four bytes in five characters, none of which HTML reads. `docs/design/report-page.md` specifies it. */

export const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=:?@^_`{|}~";
const UNKNOWN = 255;

function digits(): Uint8Array {
  const found = new Uint8Array(128).fill(UNKNOWN);
  for (let i = 0; i < ALPHABET.length; i++) found[ALPHABET.charCodeAt(i)] = i;
  return found;
}

/** The bytes of a text; throws an error when it is not base 85. */
export function fromBase85(text: string): Uint8Array {
  const known = digits();
  const missing = (5 - (text.length % 5)) % 5;
  if (missing === 4) throw new Error("The data in this page are incomplete.");
  const bytes = new Uint8Array(Math.ceil(text.length / 5) * 4);
  let at = 0;
  for (let i = 0; i < text.length; i += 5) {
    let value = 0;
    for (let k = i; k < i + 5; k++) {
      // What the last group lacks counts as the largest digit.
      const digit = k < text.length ? (known[text.charCodeAt(k)] ?? UNKNOWN) : 84;
      if (digit === UNKNOWN) throw new Error("The data in this page are damaged.");
      value = value * 85 + digit;
    }
    if (value > 0xffffffff) throw new Error("The data in this page are damaged.");
    bytes[at++] = value >>> 24;
    bytes[at++] = (value >>> 16) & 255;
    bytes[at++] = (value >>> 8) & 255;
    bytes[at++] = value & 255;
  }
  return bytes.subarray(0, bytes.length - missing);
}

/** What gzip holds of bytes. */
export async function gunzipped(bytes: Uint8Array): Promise<Response> {
  const stream = new Blob([bytes.slice().buffer]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream);
}
