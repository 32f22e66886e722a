/** Numbers that look random and are the same for the same seed. */
export class Random {
  #state: number;

  /** @param seed whole number; equal seeds yield equal numbers */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 to `end`, without `end`. */
  below(end: number): number {
    // mulberry32: 32 bits of state are enough to choose mutations.
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }

  /** So many bytes of any value. */
  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** So many values, at least `min` and less than `end`. */
  some<Value>(min: number, end: number, make: () => Value): Value[] {
    return Array.from({ length: min + this.below(end - min) }, make);
  }
}

/** A separate source for each part of a run, so that a part can be repeated alone. */
export function randomFor(seed: number, part: number): Random {
  return new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(part + 1, 0x85ebca6b));
}
