import { createHash } from 'node:crypto';
import { html } from '../delivery/html.ts';
import type { Account } from './account.ts';

/** Draws an account's picture as SVG: initials on colours that follow from the login. */
export function drawAvatar(account: Account): string {
  const [hueByte = 0, spinByte = 0] = createHash('sha256').update(account.login).digest();
  const hue = Math.round((hueByte / 256) * 360);
  const spin = Math.round((spinByte / 256) * 360);
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96">
<rect width="96" height="96" fill="hsl(${`${hue}`} 46% 30%)"/>
<g transform="rotate(${`${spin}`} 48 48)">
<circle cx="84" cy="48" r="44" fill="hsl(${`${(hue + 16) % 360}`} 48% 36%)"/>
<circle cx="100" cy="48" r="30" fill="hsl(${`${(hue + 32) % 360}`} 50% 42%)"/>
</g>
<text x="48" y="48" dy=".35em" text-anchor="middle" fill="#fff" font-family="system-ui, sans-serif" font-size="36" font-weight="600">${initials(account)}</text>
</svg>`;
  return svg.markup;
}

function initials({ name, login }: Account): string {
  const words = (name ?? login).split(/[\s-]+/).filter((word) => word !== '');
  const [first = '', last = ''] = words.length > 1 ? [words.at(0), words.at(-1)] : words;
  return (firstCharacter(first) + firstCharacter(last)).toUpperCase();
}

function firstCharacter(word: string): string {
  const [segment] = new Intl.Segmenter('en').segment(word);
  return segment?.segment ?? '';
}
