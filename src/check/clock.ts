import type { UpstreamResponse } from '../upstream/messages.ts';
import { type Finding, ok, warning } from './finding.ts';

const subject = 'clock';
const tolerated = 60_000;

/**
 * Compares this machine's clock with the one of a provider's answer.
 *
 * @param answer undefined if there is none
 * @param now milliseconds since 1970
 */
export function checkClock(answer: UpstreamResponse | undefined, now: number): Finding[] {
  const ahead = now - Date.parse(answer?.headers.date ?? '');
  if (Number.isNaN(ahead)) return [];
  if (Math.abs(ahead) <= tolerated) return [ok(subject, 'agrees with the provider’s')];
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return [
    warning(
      subject,
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
