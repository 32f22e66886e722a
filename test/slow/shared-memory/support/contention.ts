import { expect } from 'chai';
import type { Answer } from '../../../harness/client/http-client.ts';
import { type OAuthPage, tokensOf } from '../../../harness/login/oauth-page.ts';
import type { Flags } from '../../../harness/relay/relay-process.ts';
import { eventually } from '../../../harness/system/eventually.ts';
import { MemoryServer } from '../../../harness/system/memory-server.ts';
import { Relays, slowly } from './relays.ts';

const sixTabs = Array.from({ length: 6 });

/**
 * Runs three relays with a server of their own.
 *
 * @param words arguments of the server
 * @param isAway whether the server is killed before the relays start
 */
export async function withServer(
  task: (relays: Relays, server: MemoryServer) => Promise<void>,
  { words = [], flags = {}, isAway = false }: { words?: string[]; flags?: Flags; isAway?: boolean } = {},
): Promise<void> {
  const server = await MemoryServer.start(...words);
  try {
    if (isAway) await server.kill();
    const relays = await Relays.start(3, { 'shared-memory': server.address, ...flags });
    slowly(relays.provider);
    try {
      await task(relays, server);
    } finally {
      await relays.stop();
    }
  } finally {
    await server.stop();
  }
}

/** Lets six tabs refresh at two relays. @returns the number of calls that they made */
export async function refreshAtTwo(relays: Relays): Promise<number> {
  const { page, refreshToken } = await relays.loggedInPage();
  const before = relays.provider.credentials('refresh').length;
  const answers = await Promise.all(sixTabs.map(() => page.refresh(refreshToken)));
  for (const answer of answers) tokensOf(answer);
  return relays.provider.credentials('refresh').length - before;
}

/** Waits until every relay has logged this. */
export const logged = (relays: Relays, msg: string) =>
  Promise.all(relays.each.map(({ process: relay }) => relay.logLine((line) => line['msg'] === msg)));

/** Refreshes until there is a token, as the client does after a 503. */
export async function insist(page: OAuthPage, refreshToken: string): Promise<Answer> {
  return await eventually(async () => {
    const answer = await page.refresh(refreshToken);
    if (answer.status !== 503) return answer;
    expect(answer.headers['retry-after']).to.match(/^\d+$/);
    throw new Error(`${answer.body}`);
  }, 200);
}

/** Logs in, and lets six tabs refresh once more than they have failed. */
export async function contend(relays: Relays, meanwhile: () => void | Promise<void> = () => {}) {
  const { page, refreshToken } = await relays.loggedInPage();
  const before = relays.provider.credentials('refresh').length;
  const tabs = sixTabs.map(() => insist(page, refreshToken));
  await meanwhile();
  const got = (await Promise.all(tabs)).map(tokensOf);
  const calls = relays.provider.credentials('refresh').length - before;
  expect(relays.provider.accepts(got[0]?.accessToken ?? '')).to.equal(true);
  tokensOf(await insist(page, got[0]?.refreshToken ?? ''));
  return calls;
}

/** Logs in and refreshes at one relay after the other. */
export async function alone(relays: Relays): Promise<void> {
  const { page, refreshToken } = await relays.loggedInPage();
  tokensOf(await page.refresh(refreshToken));
}
