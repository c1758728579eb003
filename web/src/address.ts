/** The state of the page in the fragment of its address, so that a link shows what its sender saw. */
import { EMPTY, readFragment, type Seen, writeFragment } from "./fragment";

/** A part of the page that the address keeps. */
export interface Part {
  /** Its state as text; null: as it was at first. */
  read(): string | null;
  /** Takes a state that `read` gave, or null. Text of an address may be anything: what means nothing changes nothing. */
  write(text: string | null): void;
}

/** The part of the state that belongs to the timeline. */
export interface TimelinePart {
  read(): Omit<Seen, "page">;
  write(seen: Seen): void;
}

const LATER = 250;

class Address {
  readonly #parts = new Map<string, Part>();
  #timeline: TimelinePart | null = null;
  /** What the address asks for; a part that is made later takes it then. */
  #wanted: Seen | null = null;
  /** Whether parts take a state: that is no change of the reader's. */
  #applying = false;
  #timer = 0;

  /** Reads the address, before the first part of the page is made. */
  open(): void {
    this.#wanted = readFragment(location.hash);
    addEventListener("hashchange", () => {
      const seen = readFragment(location.hash);
      if (seen) this.#apply(seen);
    });
  }

  /** The page is drawn: from now on, what is made anew begins as it always does. */
  drawn(): void {
    this.#wanted = null;
  }

  /** Keeps a part, and shows what the address asks of it. The last one of a name counts. */
  keep(name: string, part: Part): void {
    this.#parts.set(name, part);
    const text = this.#wanted && Object.hasOwn(this.#wanted.page, name) ? this.#wanted.page[name] : undefined;
    if (text !== undefined) this.#quietly(() => part.write(text));
  }

  /** Keeps the timeline, and shows what the address asks of it; the answer is the state in the address. */
  keepTimeline(part: TimelinePart): Seen | null {
    this.#timeline = part;
    const seen = this.#wanted;
    if (seen) this.#quietly(() => part.write(seen));
    return seen;
  }

  /** Writes the address, shortly after the last of several changes. */
  readonly changed = (): void => {
    if (this.#applying) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => history.replaceState(null, "", writeFragment(this.#seen())), LATER);
  };

  /** The address with the present state. */
  link(): string {
    return location.href.replace(/#.*$/, "") + writeFragment(this.#seen());
  }

  #seen(): Seen {
    const page: Record<string, string> = {};
    for (const [name, part] of this.#parts) {
      const text = part.read();
      if (text !== null) page[name] = text;
    }
    // What is not made yet has no state but this.
    for (const [name, text] of Object.entries(this.#wanted?.page ?? {})) if (!this.#parts.has(name)) page[name] = text;
    return { ...EMPTY, ...this.#timeline?.read(), page };
  }

  #apply(seen: Seen): void {
    const before = this.#wanted;
    this.#wanted = seen;
    this.#quietly(() => {
      // First what the timeline follows: it may show another one, and clear what is chosen.
      for (const [name, part] of [...this.#parts])
        part.write(Object.hasOwn(seen.page, name) ? (seen.page[name] ?? null) : null);
      this.#timeline?.write(seen);
    });
    if (before === null) this.#wanted = null;
  }

  #quietly(act: () => void): void {
    const before = this.#applying;
    this.#applying = true;
    act();
    this.#applying = before;
  }
}

/** That of this page. */
export const address = new Address();
