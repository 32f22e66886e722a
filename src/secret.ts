import { inspect } from 'node:util';

const mask = '[secret]';

/**
 * A value that shows itself only to who asks for it by name: logging, serialising or concatenating
 * it yields a mask.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself, for the one place that has to send it or compute with it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}
