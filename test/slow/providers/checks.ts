import { expect } from 'chai';
import { freePort } from '../../harness/system/free-port.ts';
import type { Rig } from './rig.ts';
import type { Mistake, World } from './world.ts';

/** A wrong configuration, and the words of a finding about it. */
interface WrongConfiguration {
  /** What is wrong. */
  readonly wrong: string;
  readonly cause: RegExp;
  make(rig: Rig, world: World): Mistake | Promise<Mistake>;
}

/** Mistakes of operators. */
const wrongConfigurations: readonly WrongConfiguration[] = [
  { wrong: 'client secret', cause: /secret/, make: () => ({ clientSecret: 'another-secret' }) },
  {
    wrong: 'client id',
    cause: /client identifier|--client-id/,
    make: () => ({ flags: { 'client-id': 'another-client' } }),
  },
  {
    wrong: 'callback',
    cause: /callback URL|--base-url/,
    make: async () => ({ flags: { 'base-url': `http://localhost:${await freePort()}` } }),
  },
  {
    wrong: 'scope',
    cause: /scope/,
    make: (_rig, { server }) => ({
      flags: { scope: `${server.flags['scope'] ?? 'openid'} another-scope` },
    }),
  },
  {
    wrong: 'method',
    cause: /--token-request/,
    make: ({ wrongTokenRequest }) => ({ flags: { 'token-request': wrongTokenRequest } }),
  },
  {
    wrong: "issuer's path",
    cause: /issuer/,
    make: (_rig, { server }) => ({
      flags: { issuer: `${server.issuer.replace(/\/$/, '')}/wrong` },
    }),
  },
  {
    wrong: "issuer's scheme",
    cause: /issuer|https?:\/\//,
    make: (_rig, { server }) => ({
      flags: { issuer: server.issuer.replace(/^http(s?):/, (_, s) => (s ? 'http:' : 'https:')) },
    }),
  },
];

/** Runs `login-relay check` with the right configuration, and with wrong ones. */
export function describeChecks(rig: Rig, world: () => World): void {
  it('finds no problem with the right configuration', async () => {
    expect((await world().check()).complaints).to.deep.equal([]);
  });

  for (const { wrong, cause, make } of wrongConfigurations) {
    const outcome = rig.hides.includes(wrong) ? 'not checked' : 'named';
    it(`reports what is wrong as ${outcome}: ${wrong}`, async () => {
      const mistake = await make(rig, world());
      expect((await world().check(mistake)).outcomeFor(cause)).to.equal(outcome);
    });
  }

  it('reports no problem after its advice on --token-request is followed', async () => {
    const { check } = world();
    const wrong = await check({ flags: { 'token-request': rig.wrongTokenRequest } });
    if (wrong.outcomeFor(/--token-request/) === 'not checked') return;
    const followed = await check({ flags: { 'token-request': wrong.advisedTokenRequest } });
    expect(followed.complaints).to.deep.equal([]);
  });
}
