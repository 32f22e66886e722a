import { inspect } from 'node:util';

const mask = '[secret]';

/** A secret value. Logging, serialising or concatenating it results in a mask. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it only to send the value or to compute with it. */
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

/** A secret that this process cannot read, but the relay may. */
export class UnseenSecret extends Secret {
  constructor() {
    super('');
  }

  /** @throws {Error} */
  override reveal(): never {
    throw new Error('this secret was not read');
  }
}
