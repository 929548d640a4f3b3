/** A map that keeps what was used last, `size` entries at least and twice as many at most. */
export class Recent<V extends {}> {
  readonly #size: number;
  #young = new Map<string, V>();
  /** Not asked for since it was young: dropped, all of it, when the young ones are enough. */
  #old = new Map<string, V>();

  constructor(size: number) {
    this.#size = size;
  }

  get(name: string): V | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.set(name, old);
    return old;
  }

  set(name: string, value: V): void {
    if (this.#young.size >= this.#size) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, value);
  }

  delete(name: string): void {
    this.#young.delete(name);
    this.#old.delete(name);
  }
}
