/** Numbers of seven bits a byte, the lowest first, as the columns of a page hold them. */
export class Varints {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  #at: number;

  /** Reads from a place on; `what` names the columns in errors. */
  constructor(bytes: Uint8Array, what: string, at = 0) {
    this.#bytes = bytes;
    this.#what = what;
    this.#at = at;
  }

  /** The next number; throws an error when the bytes end within it. */
  readonly next = (): number => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw this.#incomplete();
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  };

  /** Throws an error when fewer bytes are left: a number has at least one. */
  need(size: number): void {
    if (size > this.#bytes.length - this.#at) throw this.#incomplete();
  }

  /** The next bytes as they are. */
  bytes(size: number): Uint8Array {
    const found = this.#bytes.slice(this.#at, this.#at + size);
    this.#at += size;
    return found;
  }

  #incomplete(): Error {
    return new Error(`The columns of the ${this.#what} are incomplete.`);
  }
}
