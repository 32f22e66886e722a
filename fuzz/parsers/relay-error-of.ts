import { RelayError } from '../../src/errors.ts';

/** What the function returns, or the RelayError that it throws; any other error is thrown on. */
export function relayErrorOf<Value>(read: () => Value): Value | RelayError {
  try {
    return read();
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
}
