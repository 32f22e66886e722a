import { type Finding, ok, warning } from './finding.ts';

const tolerated = 60_000;

/**
 * Judges this machine's clock.
 *
 * @param ahead milliseconds by which it is ahead of the provider's; undefined if no answer told it
 */
export function checkClock(ahead: number | undefined): Finding[] {
  if (ahead === undefined) return [];
  if (Math.abs(ahead) <= tolerated) return [ok('clock', 'agrees with the provider’s')];
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return [
    warning(
      'clock',
      `this machine’s is ${inWords(Math.abs(ahead))} ${direction} the provider’s`,
      'let this machine keep its time by NTP: logins and certificates expire by the clock',
    ),
  ];
}

function inWords(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
