// Looks of the run: the browser's EventSource, with a word when it breaks, comes back or ends.

import { get } from "./api.js";

const AGAIN_MS = 2000;

/**
 * Follows the run. `handlers` has `look(look, isFirst)`, `lost()`, `back()`, `end()`, `gone()` and `refused()`.
 * `isFirst` is true for the first look of a connection, which brings the history that the server keeps. After the end
 * the connection stays: the run waits for those who look at what it has come to, and `gone()` says that it waits no
 * longer.
 */
export class Stream {
  constructor(handlers) {
    this.handlers = handlers;
    this.ended = false;
    this.isLost = false;
    this.open();
  }

  open() {
    const source = new EventSource("/api/stream");
    let isFirst = true;
    source.addEventListener("open", () => {
      isFirst = true;
      if (this.isLost) this.handlers.back();
      this.isLost = false;
    });
    source.addEventListener("look", (event) => {
      this.handlers.look(JSON.parse(event.data), isFirst);
      isFirst = false;
    });
    source.addEventListener("end", () => {
      this.ended = true;
      this.handlers.end();
    });
    source.addEventListener("error", () => this.broken(source));
  }

  /** The browser tries again by itself, except after an answer that is no stream: then the reason is asked for. */
  async broken(source) {
    if (this.ended) {
      source.close();
      return this.handlers.gone();
    }
    if (!this.isLost) this.handlers.lost();
    this.isLost = true;
    if (source.readyState !== EventSource.CLOSED) return;
    try {
      await get("/api/ports");
    } catch (error) {
      if (error.status === 401 || error.status === 403) return this.handlers.refused();
    }
    return setTimeout(() => this.open(), AGAIN_MS);
  }
}
