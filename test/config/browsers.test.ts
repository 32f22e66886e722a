import { expect } from 'chai';
import { formatConfigFile } from '../../src/config/shown/print.ts';
import { configFileSchema } from '../../src/config/shown/schema.ts';
import { faultsOfFile, readFileConfig } from './support/read.ts';

interface Parts {
  readonly relay?: string;
  readonly provider?: string;
  readonly resources?: string;
  readonly frontEnds?: string;
}

/** A file with a resource that opens to browsers. */
function file(resource: string, { relay = 'trusted-proxies: 127.0.0.1', provider, resources, frontEnds }: Parts = {}) {
  return `base-url: https://login.example.com
key-file: ./key
${relay}
providers: { github: { client-id: one, client-secret: two${provider ?? ''} } }
resources:
  wiki: { url: https://wiki.example.com/, ${resource} }
${resources ?? ''}
${frontEnds ?? ''}
`;
}

/** The faults of a file, with `@` instead of each place. */
const faults = (text: string) => faultsOfFile(text).map((fault) => fault.replace(/^config\.yaml:\d+:\d+ /, '@ '));

describe('the configuration of a resource that opens to browsers', () => {
  it('needs no front end, and has defaults', () => {
    const { config, warnings, readings } = readFileConfig(file('browser: true'));
    expect(config.resources[0]?.browser).to.deep.equal({ lifetime: 43_200, renew: 3600 });
    expect(config.frontEnds).to.deep.equal([]);
    expect(config.registrations[0].stateCheck).to.equal('always');
    expect(warnings).to.deep.equal([]);
    const printed = formatConfigFile(readings, config);
    expect(printed).to.match(/browser:\n +lifetime: 720 # default\n +renew: 60 # default\n/);
    expect(printed).not.to.include('front-ends');
  });

  it('is in minutes, from five to a week', () => {
    for (const [browser, expected] of [
      ['{}', { lifetime: 43_200, renew: 3600 }],
      ['{ lifetime: 10080, renew: 5 }', { lifetime: 604_800, renew: 300 }],
      ['{ renew: 720 }', { lifetime: 43_200, renew: 43_200 }],
    ] as const) {
      const { config } = readFileConfig(file(`browser: ${browser}`));
      expect(config.resources[0]?.browser, browser).to.deep.equal(expected);
    }
  });

  it('is true, false or a map in the schema for editors', () => {
    const schema = JSON.stringify(configFileSchema());
    expect(schema).to.match(/"browser":\{"description":"[^"]+","anyOf":\[\{"type":"boolean"\},\{"type":"object"/);
  });

  const front = 'front-ends: { app: { origin: https://app.example.com, token-delivery: code, resources: [wiki] } }';
  it('opens to no browser with false', () => {
    const { config } = readFileConfig(file('browser: false', { frontEnds: front }));
    expect(config.resources[0]?.browser).to.equal(undefined);
    expect(faults(file('browser: false'))).to.deep.equal([
      'config.yaml has no front-ends',
      '--origin (FRONTEND_ORIGIN) is required',
      '@ resources.wiki is used by no front end, and opens to no browser',
    ]);
  });

  const own =
    'give it a host of its own, because an application can act on everything at its host, whatever the port is';
  const beside = `@ resources.wiki.url is at the host of resources.board with browser: ${own}`;
  for (const [what, text, ...expected] of [
    [
      'lasts too long',
      file('browser: { lifetime: 10081 }'),
      '@ resources.wiki.browser.lifetime must be a whole number from 5 to 10080',
    ],
    [
      'asks too often',
      file('browser: { renew: 4 }'),
      '@ resources.wiki.browser.renew must be a whole number from 5 to 10080',
    ],
    [
      'asks after its end',
      file('browser: { lifetime: 60, renew: 61 }'),
      '@ resources.wiki.browser.renew must not be longer than lifetime',
    ],
    ['is no map', file('browser: cookie'), '@ resources.wiki.browser is neither true nor a map, such as lifetime: 720'],
    ['has an unknown key', file('browser: { domain: x }'), '@ resources.wiki.browser.domain is unknown'],
    [
      'has its keys in the resource',
      file('browser: true, renew: 5'),
      '@ resources.wiki.renew belongs to browsers: move it into browser, in a resource',
    ],
    [
      'has no trusted proxy',
      file('browser: true', { relay: '' }),
      '@ resources.wiki.browser needs trusted-proxies: only a trusted reverse proxy can say what a browser asks for',
    ],
    [
      'gives the token of the provider',
      file('browser: true, upstream: http://127.0.0.1:9000/, token: provider'),

      '@ resources.wiki.token must not be provider with browser: the cookie holds no token of the provider',
    ],
    [
      'is at a provider without a state check',
      file('browser: true', { provider: ', state-check: off' }),
      '@ providers.github.state-check "off" must be always with resources.wiki.browser: otherwise anyone could exchange a leaked code at the callback',
    ],
    [
      'is not at the root of its host',
      file('browser: true').replace('wiki.example.com/', 'wiki.example.com/wiki/'),
      '@ resources.wiki.url must be the root of its host with browser, such as https://wiki.example.com/',
    ],
    [
      'is at the host of the login',
      file('browser: true').replace('wiki.example.com/', 'login.example.com/'),
      `@ resources.wiki.url is at the host of the login with browser: ${own}`,
    ],
    [
      'is at another port of the host of the login',
      file('browser: true').replace('wiki.example.com/', 'LOGIN.example.com:8443/'),
      `@ resources.wiki.url is at the host of the login with browser: ${own}`,
    ],
    [
      'is at another port of the host of another resource',
      file('browser: true', {
        resources: '  board: { url: https://wiki.example.com:8443/mcp }',
        frontEnds: front.replace('[wiki]', '[board]'),
      }),
      beside,
    ],
  ] as const) {
    it(`has a fault if it ${what}`, () => {
      expect(faults(text)).to.deep.equal(expected);
    });
  }

  it('has a fault at each of two resources that open to browsers at one host', () => {
    const text = file('browser: true', {
      resources: '  board: { url: https://wiki.example.com:8443/, browser: true }',
    });
    expect(faults(text)).to.deep.equal([
      beside,
      `@ resources.board.url is at the host of resources.wiki with browser: ${own}`,
    ]);
  });

  it('hides no page of a front end behind the addresses of the relay', () => {
    const at = (page: string, hidden: string) =>
      faults(
        file('browser: true', {
          frontEnds: `front-ends: { app: { origin: https://wiki.example.com, token-delivery: code, resources: [wiki], frontend-url: 'https://wiki.example.com${page}', redirect-uris: ['https://wiki.example.com/', 'https://wiki.example.com${hidden}'] } }`,
        }),
      );
    const why = 'is below /.login-relay/, where the relay answers at the host of resources.wiki';
    expect(at('/', '/a')).to.deep.equal([]);
    expect(at('/.login-relay/choose', '/.login-relay/callback')).to.deep.equal([
      `@ front-ends.app.frontend-url "https://wiki.example.com/.login-relay/choose" ${why}`,
      `@ front-ends.app.redirect-uris ${why}`,
    ]);
  });

  it('takes the name of an endpoint from providers', () => {
    const text = file('browser: true')
      .replaceAll('github:', 'answer:')
      .replace('client-id', 'provider: github, client-id');
    expect(faults(text)).to.deep.equal(['@ providers.answer has the name of an endpoint: choose another name']);
  });
});
