import { RelayError } from '../../src/errors.ts';

/** The result of the function, or its RelayError. Any other error is thrown again. */
export function relayErrorOf<Value>(read: () => Value): Value | RelayError {
  try {
    return read();
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
}
