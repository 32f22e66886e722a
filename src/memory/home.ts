import type { Clock } from '../clock.ts';
import type { SharedMemory } from './shared-memory.ts';

/**
 * The places in which a relay remembers earlier requests: its process, and a server that relays share, if there is one.
 */
export interface Home {
  readonly now: Clock;
  readonly shared?: SharedMemory | undefined;
}
