import { randomBytes } from 'node:crypto';

/**
 * Everything secret in the black-box suite carries this marker, so that one search finds any leak.
 * It is alphanumeric, so percent-encoding, JSON and HTML do not change it, and too long for millions of random states and
 * cookies to contain it.
 */
const marker = 'c4n4ryb1rd';

/** The kind of secret that a canary represents: a client secret, an authorization code or an access token. */
export type CanaryKind = 'secret' | 'code' | 'token';

/** A fresh value of the kind given, made of characters that no encoding changes. */
export function canary(kind: CanaryKind): string {
  return `${marker}-${kind}-${randomBytes(8).toString('hex')}`;
}

/** The canary kinds found in the text; a marker hidden in base64 or hex counts as every kind. */
export function canariesIn(text: string): Set<CanaryKind> {
  const kinds: CanaryKind[] = ['secret', 'code', 'token'];
  const lowerCase = text.toLowerCase();
  const disguised = disguises.some((form) => text.includes(form)) || lowerCase.includes(hexForm);
  if (disguised || new RegExp(`${marker}(?!-(secret|code|token))`).test(lowerCase)) {
    return new Set(kinds);
  }
  return new Set(kinds.filter((kind) => lowerCase.includes(`${marker}-${kind}`)));
}

const hexForm = Buffer.from(marker).toString('hex');

/** Base64 of the marker at its three alignments, without the characters that depend on its neighbours. */
const disguises = [0, 1, 2].map((offset) => {
  const encoded = Buffer.from(`${'\0'.repeat(offset)}${marker}\0\0`).toString('base64');
  const first = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + marker.length) * 8) / 6);
  return encoded.slice(first, end);
});

const leaks: string[] = [];

/** Searches the output of the relay. A canary of a kind that is not allowed fails the whole run. */
export function inspectForLeaks(where: string, text: string, allowed: CanaryKind[] = []): void {
  for (const kind of canariesIn(text)) {
    if (!allowed.includes(kind)) leaks.push(`${kind} in ${where}: ${text.slice(0, 500)}`);
  }
}

const remembered = new Set<string>();

/** Records the secrets that a browser got, which must never be in a log. */
export function remember(...secrets: string[]): void {
  for (const secret of secrets) if (secret !== '') remembered.add(secret);
}

/** Fails if a text holds a state, cookie, challenge or verifier that any test has seen. */
export function expectNoneRemembered(text: string): void {
  const found = [...remembered].filter((secret) => text.includes(secret));
  if (found.length > 0) throw new Error(`remembered secrets in the text: ${found.join(' ')}`);
}

/** Mocha runs this after the last test; with `--parallel`, after the last test of every file. */
export const mochaHooks = {
  afterAll: function noSecretHasLeaked() {
    const found = leaks.splice(0);
    if (found.length > 0) throw new Error(`${found.length} leaks:\n${found.join('\n')}`);
  },
};
