import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { request } from '../harness/client/request.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { ada, board, type DoorBrowser, doorRelay, fetching, settings, wiki } from './support/door-relay.ts';

type Headers = [name: string, value: string][];

const names = ['wiki', 'board'] as const;
type Name = (typeof names)[number];
const urls: Readonly<Record<Name, string>> = { wiki, board };
const doorCookie = '__Host-Http-lr_door';

describe('a text that is sealed for one resource and one purpose', () => {
  const relay = doorRelay();
  /** Every sealed text, by what it is and for which resource. */
  const texts = new Map<string, string>();
  let pending: DoorBrowser;

  /** A token of a program for a resource. */
  async function tokenFor(resource: string): Promise<string> {
    const { start, code } = await relay().logIn({ client_id: 'app', redirect_uri: 'https://app.example/', resource });
    return `${jsonOf(await relay().redeem(start, code))['access_token']}`;
  }

  /** Begins a login: its ticket, the cookie of the try, its state at the provider, and the code and state at the door. */
  async function begin(name: Name): Promise<void> {
    const start = await pending.open(`${urls[name]}/`);
    const ticket = new URL(start.headers['location'] ?? '');
    const asked = new URL((await pending.open(ticket.href)).headers['location'] ?? '');
    const state = asked.searchParams.get('state') ?? '';
    const code = relay().provider.authorize(asked);
    const answer = await pending.open(
      `${asked.searchParams.get('redirect_uri')}?${new URLSearchParams({ code, state })}`,
    );
    const back = new URL(answer.headers['location'] ?? '').searchParams;
    texts.set(`ticket ${name}`, ticket.searchParams.get('state') ?? '');
    texts.set(`state ${name}`, state);
    texts.set(`code ${name}`, back.get('code') ?? '');
    const [, kept = ''] =
      [...pending.cookies(urls[name]).entries()].find(([key]) => /login_[0-9a-f]{16}$/.test(key)) ?? [];
    texts.set(`login ${name}`, kept.split('.')[1] ?? '');
  }

  before(async () => {
    await relay().restart(settings);
    relay().provider.knows(json(ada));
    const person = relay().person();
    for (const name of names) {
      await person.visit(`${urls[name]}/`);
      texts.set(`cookie ${name}`, person.cookies(urls[name]).get(doorCookie) ?? '');
      texts.set(`token ${name}`, await tokenFor(`${urls[name]}/`));
    }
    pending = relay().person();
    for (const name of names) await begin(name);
  });

  /** Whether a text opens at each place. A place has the name of the only text that may open there. */
  const places: Readonly<Record<string, (text: string) => Promise<boolean>>> = Object.fromEntries(
    names.flatMap((name) => {
      const check = async (header: [string, string]) =>
        (await relay().check(`${urls[name]}/`, [...fetching, header])).status === 204;
      const ticket = async (state: string) => {
        const address = `${relay().address}/auth/provider/door/${name}?${new URLSearchParams({ state })}`;
        return (await relay().person().open(address)).status === 307;
      };
      const user = async (text: string) => {
        const headers: Headers = [...fetching, ['Cookie', `${doorCookie}=${text}`]];
        const sending = { path: '/.login-relay/user', authority: new URL(urls[name]).host, headers };
        return (await request(relay().port, sending)).status === 200;
      };
      return [
        [
          `cookie ${name}`,
          async (text: string) => (await check(['Cookie', `${doorCookie}=${text}`])) && (await user(text)),
        ],
        [`token ${name}`, async (text: string) => await check(['Authorization', `Bearer ${text}`])],
        [`ticket ${name}`, ticket],
      ] as const;
    }),
  );

  for (const place of ['cookie wiki', 'cookie board', 'token wiki', 'token board', 'ticket wiki', 'ticket board']) {
    it(`opens only as the ${place}`, async () => {
      expect(texts.size).to.equal(12);
      const opening: string[] = [];
      for (const [what, text] of texts) {
        expect(text, what).to.match(/^lr1_/);
        if (await places[place]?.(text)) opening.push(what);
      }
      expect(opening).to.deep.equal([place]);
    });
  }

  it('redeems nothing as a code at the other door, or at the token endpoint', async () => {
    for (const [what, code] of texts) {
      const form = { grant_type: 'authorization_code', client_id: 'app', code, code_verifier: 'v'.repeat(43) };
      expect((await relay().post('token', form)).status, what).to.equal(400);
      const other = relay().person();
      for (const name of names) {
        const callback = `${urls[name]}/.login-relay/callback?${new URLSearchParams({ code, state: 's'.repeat(43) })}`;
        expect((await other.open(callback)).status, what).to.equal(400);
        expect(other.cookies(urls[name]).has(doorCookie)).to.equal(false);
      }
    }
  });
});
