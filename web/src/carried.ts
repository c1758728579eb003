/** The parts of the data, as the file carries them: each is there as soon as the browser has read beyond it. */

/** The text of a part, which is taken out of the document; empty where there is none. */
export function carried(id: string): Promise<string> {
  return new Promise((resolve) => {
    const look = (): void => {
      const part = document.getElementById(id);
      // What follows a part says that it is complete; so does the end of the file, wherever that is.
      if (document.readyState === "loading" && !part?.nextSibling) return;
      growth.disconnect();
      document.removeEventListener("readystatechange", look);
      part?.remove();
      resolve(part?.textContent ?? "");
    };
    const growth = new MutationObserver(look);
    growth.observe(document, { childList: true, subtree: true });
    document.addEventListener("readystatechange", look);
    look();
  });
}

const HIDDEN = 250;

/** Waits until the browser has shown what was drawn. A page in the background shows nothing, and does not wait long. */
export function shown(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve, 0));
    setTimeout(resolve, HIDDEN);
  });
}

/** Lets the browser react to whoever uses the page, between two pieces of work. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
