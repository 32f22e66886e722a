import { expect } from 'chai';
import type { RawAnswer } from '../../../fuzz/hostile/answer.ts';
import { headerOf, pipelined } from '../../harness/client/pipelined.ts';
import { plainPayloads, redirectPayloads } from '../../harness/client/redirect-payloads.ts';
import { encoded, oauthStart, type Parameters } from '../../harness/login/oauth-front-end.ts';
import { baseUrl } from '../../harness/relay/relay-under-test.ts';
import { team } from '../../registrations/support/team.ts';

const frontEnds = `
  notes: { origin: https://notes.example, error-delivery: redirect }
  previews:
    origin: https://*.preview.shop.example
    redirect-uris: [https://*.preview.shop.example/in]
    token-delivery: code
  editor: { origin: https://editor.example, token-delivery: cms, providers: [github] }
  panel: { origin: https://panel.relay.example, token-delivery: session }
`;

/** Where the logins of each front end may end. */
const ends = {
  app: /^https:\/\/app\.example\/\?/,
  shop: /^https:\/\/shop\.example\/in\?/,
  blog: /^https:\/\/blog\.example\/#/,
  notes: /^https:\/\/notes\.example\/\?/,
  panel: /^https:\/\/panel\.relay\.example\//,
  previews: /^https:\/\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.preview\.shop\.example\/in\?/,
} as const;

type FrontEndName = keyof typeof ends;

/** Requests with a payload, by what the payload is. */
type Places<Start> = Readonly<Record<string, (payload: string) => Start>>;
/** The same, by the front end that the request belongs to. */
type Starts<Start> = Readonly<Partial<Record<FrontEndName | 'none', Places<Start>>>>;

const start = (parameters: Parameters, path = '/auth/github') => `${path}?${encoded(parameters)}`;
const asPath = (payload: string) => encodeURI(payload.toWellFormed()).replaceAll(/[?#]/g, encodeURIComponent);
const elsewhere = (payload: string) => ({
  redirect_uri: payload,
  return_to: payload,
  next: payload,
  site_id: payload,
});

const panel = 'https://panel.relay.example';
const panelStart = (returnTo: Parameters['return_to']) => start({ client_id: 'panel', return_to: returnTo });

const plainStarts: Starts<string> = {
  none: {
    'the client_id': (payload) => start({ client_id: payload }),
    'the client_id after a front end’s': (payload) => start({ client_id: ['notes', payload] }),
    'the client_id before a front end’s': (payload) => start({ client_id: [payload, 'notes'] }),
    'the client_id beside a front end in the path': (payload) => start({ client_id: payload }, '/auth/github/notes'),
    'the front end in the path': (payload) => `/auth/github/${asPath(payload)}`,
    'the registration in the path': (payload) => `/auth/${asPath(payload)}?client_id=notes`,
    'the redirect_uri of a front end that takes only codes': (payload) =>
      start({ client_id: 'shop', ...elsewhere(payload) }),
  },
  notes: {
    'other parameters beside a client_id': (payload) => start({ client_id: 'notes', ...elsewhere(payload) }),
  },
  blog: {
    'other parameters beside a front end in the path': (payload) => start(elsewhere(payload), '/auth/github/blog'),
  },
  panel: {
    'the return_to': panelStart,
    'the return_to after a page': (payload) => panelStart([`${panel}/`, payload]),
    'the end of a page in return_to': (payload) => panelStart(`${panel}/${payload}`),
    'the end of the origin in return_to': (payload) => panelStart(panel + payload),
    'the end of a host in return_to': (payload) => panelStart(`//panel.relay.example${payload}`),
    'the user name in return_to': (payload) => panelStart(`https://${payload}@panel.relay.example/`),
    'a path in return_to': (payload) => panelStart(`/${payload}`),
    'other parameters beside a return_to': (payload) =>
      start({ client_id: 'panel', ...elsewhere(payload), return_to: '/page' }),
  },
  app: {
    'other parameters of a start that names no front end': (payload) =>
      start({ redirect_uri: payload, return_to: payload, next: payload }),
  },
};

const shop = 'https://shop.example/in';
const fromShop = (client_id: Parameters['client_id']) => ({ client_id, redirect_uri: shop });
const toShop = (redirect_uri: Parameters['redirect_uri']) => ({ client_id: 'shop', redirect_uri });
const toPreview = (redirect_uri: string) => ({ client_id: 'previews', redirect_uri });
const preview = (label: string, after = '') => `https://${label}.preview.shop.example/in${after}`;

/** The parameters of OAuth requests. */
const oauthStarts: Starts<Parameters> = {
  none: {
    'the client_id': (payload) => fromShop(payload),
    'the end of the client_id': (payload) => fromShop(`shop${payload}.`),
    'the client_id after a front end’s': (payload) => fromShop(['shop', payload]),
    'the redirect_uri after a registered one': (payload) => toShop([shop, payload]),
    'the redirect_uri before a registered one': (payload) => toShop([payload, shop]),
    'the end of a registered redirect_uri': (payload) => toShop(`${shop}${payload}.`),
    'the fragment of a registered redirect_uri': (payload) => toShop(`${shop}#${payload}#`),
    'the path of a redirect_uri': (payload) => toShop(`https://shop.example${payload}`),
    'the beginning of the host': (payload) => toShop(`https://${payload}.shop.example/in`),
    'the end of the host': (payload) => toShop(`https://shop.example.${payload}/in`),
    'the scheme': (payload) => toShop(`${payload}://shop.example/in`),
    'the user name of a registered redirect_uri': (payload) => toShop(`https://a${payload}@shop.example/in`),
    'the end of another front end’s redirect_uri': (payload) => toShop(`https://app.example/${payload}`),
    'the redirect_uri of a preview': toPreview,
  },
  shop: {
    'the redirect_uri': toShop,
    'other parameters': (payload) => ({
      ...elsewhere(payload),
      ...toShop(shop),
      state: payload.toWellFormed(),
    }),
  },
  previews: {
    'the label of a preview': (payload) => toPreview(preview(payload)),
    'the end of the label of a preview': (payload) => toPreview(preview(`a${payload}`)),
    'the user name of a preview': (payload) => toPreview(preview(`${payload}@a`)),
    'the end of the host of a preview': (payload) => toPreview(`https://a.preview.shop.example${payload}/in`),
    'the end of the redirect_uri of a preview': (payload) => toPreview(preview('a', payload)),
  },
};

/** The relay decodes all parameters in the same way: one of each kind gets the encodings of the payloads, too. */
const whole = /^the (client_id|(front end|registration) in the path|redirect_uri|return_to)$/;
const payloadsFor = (what: string, fails = false) => (whole.test(what) && !fails ? redirectPayloads : plainPayloads);

const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\nHost: relay.example\r\n${headers}\r\n`;

describe(`no payload leads a login of one of several front ends elsewhere: ${redirectPayloads.length} payloads`, () => {
  const underTest = team('key-file: ./key', frontEnds);

  /** The provider whose authorization endpoint this is, with the callback of its registration. */
  function providerOf(location: string) {
    const { providers } = underTest();
    for (const [name, provider] of Object.entries(providers)) {
      if (!location.startsWith(`${provider.authorizeUrl}?`)) continue;
      const request = new URL(location);
      const callback = `/auth/${name}/callback`;
      expect(request.searchParams.getAll('redirect_uri')).to.deep.equal([baseUrl + callback]);
      return { provider, request, callback };
    }
    return undefined;
  }

  /** The callback of the login that an answer has started; undefined if it has started none. */
  function callbackOf(answer: RawAnswer): string | undefined {
    const location = headerOf(answer, 'Location');
    const found = location === undefined ? undefined : providerOf(location);
    if (found === undefined) return undefined;
    const [cookie = ''] = (headerOf(answer, 'Set-Cookie') ?? '').split(';');
    const code = found.provider.authorize(found.request);
    const state = found.request.searchParams.get('state') ?? '';
    return get(`${found.callback}?${encoded({ code, state })}`, `Cookie: ${cookie}\r\n`);
  }

  /** Sends a request for each payload, and finishes each login that starts. */
  async function expectOnlyEnd(
    frontEnd: FrontEndName | 'none',
    payloads: readonly string[],
    targetOf: (payload: string) => string,
  ): Promise<number> {
    const { port } = underTest();
    const requests = payloads.map((payload) => get(targetOf(payload.toWellFormed())));
    const answers = await pipelined(port, requests);
    for (const [index, answer] of answers.entries()) {
      const location = headerOf(answer, 'Location');
      if (location === undefined) {
        expect(answer.status, payloads[index]).to.be.oneOf([400, 404]);
        expect(headerOf(answer, 'Set-Cookie')).to.equal(undefined);
      } else if (frontEnd === 'none' || providerOf(location) === undefined) {
        expectEnd(frontEnd, location, payloads[index]);
      }
    }
    const callbacks = answers.map(callbackOf).filter((callback) => callback !== undefined);
    for (const answer of await pipelined(port, callbacks)) {
      expectEnd(frontEnd, headerOf(answer, 'Location') ?? '');
    }
    return callbacks.length;
  }

  for (const [frontEnd, places] of entriesOf(plainStarts)) {
    for (const [what, targetOf] of Object.entries(places)) {
      it(`as ${what}${ofFrontEnd(frontEnd)}`, async () => {
        const payloads = payloadsFor(what);
        const logins = await expectOnlyEnd(frontEnd, payloads, targetOf);
        // Most payloads are no page of the panel: those logins are refused.
        const all = frontEnd === 'panel' ? logins : payloads.length;
        expect(logins).to.equal(frontEnd === 'none' ? 0 : all);
      });
    }
  }

  for (const [frontEnd, places] of entriesOf(oauthStarts)) {
    for (const [what, parametersOf] of Object.entries(places)) {
      for (const [request, changes] of Object.entries<Parameters>({
        'an OAuth request': {},
        'an OAuth request that fails': { response_type: 'token' },
      })) {
        it(`as ${what} in ${request}${ofFrontEnd(frontEnd)}`, async () => {
          const fails = changes['response_type'] === 'token';
          const payloads = payloadsFor(what, fails);
          const logins = await expectOnlyEnd(frontEnd, payloads, (payload) =>
            start(oauthStart({ ...changes, ...parametersOf(payload) }).parameters, '/auth/staff'),
          );
          expect(logins > 0).to.equal(frontEnd !== 'none' && !fails);
        });
      }
    }
  }

  it('as the site_id, state or redirect_uri of a CMS', async () => {
    const { port } = underTest();
    const requests = plainPayloads.map((payload) => {
      const parameters = elsewhere(payload.toWellFormed());
      return get(start({ provider: 'github', scope: 'repo', ...parameters }, '/auth'));
    });
    const started = await pipelined(port, requests);
    const callbacks = started.map(callbackOf).filter((callback) => callback !== undefined);
    expect(callbacks).to.have.lengthOf(plainPayloads.length);
    for (const answer of await pipelined(port, callbacks)) {
      expect(headerOf(answer, 'Location')).to.equal(undefined);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.contain('https://editor.example').and.not.contain('evil.example');
    }
  });
});

function expectEnd(frontEnd: FrontEndName | 'none', location: string, payload?: string): void {
  if (frontEnd === 'none') expect.fail(`${location} from ${JSON.stringify(payload)}`);
  expect(location, payload).to.match(ends[frontEnd]);
}

function ofFrontEnd(frontEnd: FrontEndName | 'none'): string {
  return frontEnd === 'none' ? ', to nowhere' : `, to the front end ${frontEnd} at most`;
}

function entriesOf<Start>(starts: Starts<Start>) {
  return Object.entries(starts) as [FrontEndName | 'none', Places<Start>][];
}
