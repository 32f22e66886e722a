import { promises } from 'node:dns';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, LookupFunction, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import { createPublicLookup, isPublicAddress } from '../../src/upstream/public-addresses.ts';
import { parseDocumentUrl } from '../../src/urls.ts';
import { navigationWith } from '../harness/browser/fake-browser.ts';
import { encoded, oauthStart, type Parameters } from '../harness/login/oauth-front-end.ts';
import { type Certificate, issueCertificate } from '../harness/system/certificate.ts';
import { eventually } from '../harness/system/eventually.ts';
import { ClientsRelay, jsonOf, loopback } from './support/clients-relay.ts';

const page = 'https://tools.example.com/in';
const json = { 'Content-Type': 'application/json' };

describe('a client that publishes a metadata document', () => {
  let certificate: Certificate;
  let server: Server;
  let relay: ClientsRelay;
  let host: string;
  let requests: string[];
  let connections: Set<Socket>;
  let respond: RequestListener;
  /** How names are resolved; by default as the system does. */
  let resolve: LookupFunction | undefined;
  const before_ = getCACertificates('default');

  const frontEnds = (documents: string) => `  tools:
    kind: native
    refresh-tokens: bearer
    clients: { documents: ${documents} }
`;
  const resolving: LookupFunction = (name, options, callback) => {
    if (resolve) resolve(name, options, callback);
    else callback(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  const surroundings = { documentsHere: true, resolve: resolving };

  before('start the relay, and the host of the documents', async () => {
    certificate = await issueCertificate('localhost', '127.0.0.1', 'tools.example.com');
    setDefaultCACertificates([...before_, certificate.authority]);
    server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
      requests.push(`${request.url}`);
      respond(request, response);
    });
    connections = new Set();
    server.on('connection', (socket: Socket) => connections.add(socket));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    host = `localhost:${(server.address() as AddressInfo).port}`;
    relay = await ClientsRelay.start({ frontEnds: frontEnds('any'), surroundings });
  });
  beforeEach(() => {
    requests = [];
    resolve = undefined;
    relay.ahead = 0;
    relay.provider.forget();
    respond = documentWith();
  });
  after('stop them', async () => {
    setDefaultCACertificates(before_);
    await relay.stop();
    server.closeAllConnections();
    server.close();
    await certificate.remove();
  });

  let count = 0;
  /** The URL of a document that was not fetched before. */
  function newId(): string {
    count += 1;
    return `https://${host}/clients/${count}.json`;
  }

  /** Answers with a document. */
  function documentWith(
    changes: object = {},
    { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ): RequestListener {
    return ({ url }, response) => {
      response.writeHead(status, { ...json, ...headers });
      const document = {
        client_id: `https://${host}${url}`,
        client_name: 'My tool',
        redirect_uris: [loopback, page],
        ...changes,
      };
      response.end(JSON.stringify(document));
    };
  }

  const start = (client_id: string, changes: Parameters = {}) => relay.ask({ client_id, ...changes });

  const restartWith = (documents: string, more: object = {}) =>
    relay.restart({ frontEnds: frontEnds(documents), surroundings, ...more });

  /** Checks that a person is asked about this client, so its document is valid. */
  async function expectAsked(id: string): Promise<void> {
    expect((await start(id)).token).not.to.equal('');
  }

  async function expectRefused(id: string, status = 400, changes: Parameters = {}): Promise<void> {
    const { page: answer } = await start(id, changes);
    expect(answer.status, `${answer.body}`).to.equal(status);
    expect(answer.headers).not.to.have.any.keys('location', 'set-cookie');
  }

  it('logs in after consent, refreshes, and does both after a restart', async () => {
    const id = newId();
    for (const redirect_uri of ['http://127.0.0.1:51234/callback', page]) {
      const asked = await start(id, { redirect_uri });
      expect(asked.text).to.contain(`<dd>${host}\n`).and.contain('<bdi>My tool</bdi>');
      const { code } = await relay.agree(asked);
      const tokens = jsonOf(await relay.redeem(asked.start, code));
      await restartWith(`[${host}]`);
      const refreshed = await relay.refresh(id, `${tokens['refresh_token']}`);
      expect(jsonOf(refreshed)['access_token']).to.be.a('string');
    }
    await restartWith('any');
  });

  it('keeps its consent if the document changes or disappears before the redemption', async () => {
    const id = newId();
    const asked = await start(id, { redirect_uri: page });
    respond = (_, response) => response.writeHead(404).end();
    relay.ahead = 30_000;
    const { code } = await relay.agree(asked);
    requests = [];
    const foreign = await relay.redeem(asked.start, code, {}, [['Origin', 'https://b.example']]);
    expect(foreign.status).to.equal(403);
    const origin = ['Origin', 'https://tools.example.com'] as const;
    const redeemed = await relay.redeem(asked.start, code, {}, [origin]);
    const { refresh_token } = jsonOf(redeemed);
    expect(redeemed.headers['access-control-allow-origin']).to.equal(origin[1]);
    expect((await relay.refresh(id, `${refresh_token}`, [origin])).status).to.equal(200);
    const evil = await relay.refresh(id, `${refresh_token}`, [['Origin', 'https://b.example']]);
    expect(evil.status).to.equal(403);
    expect(requests).to.deep.equal([]);
  });

  it('is fetched once for a minute, or as long as its headers say, an hour at most', async () => {
    for (const [cacheControl, fresh, stale] of [
      [undefined, 30, 70],
      ['no-store', 30, 70],
      ['max-age=0', 30, 70],
      ['public, max-age=600', 570, 610],
      ['max-age=99999999', 3570, 3610],
    ] as const) {
      const headers = cacheControl ? { 'Cache-Control': cacheControl } : {};
      respond = documentWith({}, { headers });
      const id = newId();
      requests = [];
      relay.ahead = 0;
      await Promise.all([start(id), start(id), start(id)]);
      relay.ahead = fresh * 1000;
      await start(id);
      expect(requests, cacheControl).to.have.lengthOf(1);
      relay.ahead = stale * 1000;
      await start(id);
      expect(requests, cacheControl).to.have.lengthOf(2);
    }
  });

  it('is fetched again after a failure', async () => {
    const id = newId();
    respond = documentWith({}, { status: 500, headers: { 'Cache-Control': 'max-age=600' } });
    await expectRefused(id);
    respond = documentWith();
    await expectAsked(id);
  });

  for (const [what, changes] of Object.entries({
    'another client_id': { client_id: 'https://localhost/other.json' },
    'no client_id': { client_id: undefined },
    'no redirect URIs': { redirect_uris: undefined },
    'an empty list of redirect URIs': { redirect_uris: [] },
    'redirect URIs that are no list': { redirect_uris: loopback },
    'no redirect URI that a native client may have': {
      redirect_uris: ['javascript:alert(1)', 'http://example.com/', 'unheardof://x', 1],
    },
    'more than 5 KiB': { more: 'x'.repeat(5 * 1024) },
  })) {
    it(`is refused with ${what}`, async () => {
      respond = documentWith(changes);
      await expectRefused(newId());
    });
  }

  it('may list redirect URIs that the relay does not accept together with other URIs', async () => {
    respond = documentWith({ redirect_uris: ['javascript:alert(1)', 'unheardof://x/', loopback] });
    const id = newId();
    await expectAsked(id);
    await expectRefused(id, 400, { redirect_uri: 'javascript:alert(1)' });
    await expectRefused(id, 400, { redirect_uri: 'unheardof://x/' });
    await expectRefused(id, 400, { redirect_uri: 'http://127.0.0.1:4000/other' });
  });

  for (const [what, listener] of Object.entries<RequestListener>({
    'a redirect': (_, response) => response.writeHead(302, { Location: '/clients/1.json' }).end(),
    'a status other than 200': (request, response) => documentWith({}, { status: 203 })(request, response),
    HTML: (request, response) => documentWith({}, { headers: { 'Content-Type': 'text/html' } })(request, response),
    'a truncated body': (_, response) => {
      response.writeHead(200, json).end('{"client_id":');
    },
    '100 MB': (_, response) => {
      response.writeHead(200, json);
      const chunk = Buffer.alloc(64 * 1024, 0x20);
      const send = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', send);
      send();
    },
    'a compressed bomb': (_, response) => {
      const packed = 'H4sIAAAAAAAAA+3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA';
      response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' });
      response.end(Buffer.from(packed, 'base64'));
    },
  })) {
    it(`is refused with ${what}`, async () => {
      respond = listener;
      const id = newId();
      const { page: answer } = await start(id);
      expect(answer.status).to.be.oneOf([400, 502]);
      expect(requests).to.have.lengthOf(1);
    });
  }

  it('is given up after three seconds, however slowly it arrives', async () => {
    respond = (_, response) => {
      response.writeHead(200, json);
      const drip = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(drip));
    };
    await expectRefused(newId(), 502);
  });

  for (const id of [
    'http://tools.example.com/client.json',
    'https://tools.example.com',
    'https://tools.example.com/',
    'https://user@tools.example.com/client.json',
    'https://user:secret@tools.example.com/client.json',
    'https://:secret@tools.example.com/client.json',
    'https://@tools.example.com/client.json',
    'https://tools.example.com/client.json#fragment',
    'https://tools.example.com/client.json#',
    'https://tools.example.com/a/../client.json',
    'https://tools.example.com/./client.json',
    'https://tools.example.com/%2e%2e/client.json',
    'https://Tools.example.com/client.json',
    'https://tools.example.com:443/client.json',
    'https:\\\\tools.example.com\\client.json',
    'https:/tools.example.com/client.json',
    ' https://tools.example.com/client.json',
    'https://tools.exa\tmple.com/client.json',
    'https://tööls.example.com/client.json',
    'https://2130706433/client.json',
    'https://0177.0.0.1/client.json',
    'https://0x7f.1/client.json',
    'https://127.1/client.json',
    'javascript:alert(1)',
    'file:///etc/passwd',
  ]) {
    it(`has no identifier such as ${JSON.stringify(id)}`, async () => {
      expect(parseDocumentUrl(id)).to.equal(undefined);
      await expectRefused(id);
    });
  }

  it('may have an @ in the path of its identifier', async () => {
    await expectAsked(`https://${host}/@scope/client.json`);
  });

  it('logs in at a redirect URI that the port makes longer than the longest', async () => {
    const longest = `http://127.0.0.1/${'x'.repeat(495)}`;
    respond = documentWith({ redirect_uris: [longest] });
    const asked = await start(newId(), { redirect_uri: longest.replace('.1/', '.1:51234/') });
    expect((await relay.redeem(asked.start, (await relay.agree(asked)).code)).status).to.equal(200);
  });

  it('has the host or the address that the configuration names', async () => {
    const id = newId();
    const isAsked = async (documents: string, client_id = id) => {
      await restartWith(documents);
      return (await start(client_id)).token !== '';
    };
    expect(await isAsked(`[claude.ai, ${host}]`)).to.equal(true);
    expect(await isAsked(`[claude.ai, ${id}]`)).to.equal(true);
    requests = [];
    expect(await isAsked('[localhost]')).to.equal(false);
    expect(await isAsked(`[${id}]`, `${id}?more`)).to.equal(false);
    expect(await isAsked(`[sub.${host}, x${host}]`)).to.equal(false);
    expect(requests).to.deep.equal([]);
    // It cannot refresh either, as soon as it is not allowed any more.
    expect(jsonOf(await relay.refresh(id, 'x'))).to.include({ error: 'invalid_client' });
    await restartWith('any');
  });

  describe('with a relay that is not on this machine', () => {
    const outside = { ...surroundings, documentsHere: false };
    before(() => restartWith('any', { surroundings: outside }));
    after(() => restartWith('any'));

    const port = () => host.replace('localhost', '');

    it('is not fetched from an address that is not public', async () => {
      const before = connections.size;
      const hosts = ['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '10.0.0.1', '169.254.169.254'];
      for (const one of hosts) await expectRefused(`https://${one}${port()}/c.json`, 502);
      expect(connections.size).to.equal(before);
    });

    it('is not fetched if any address of its host is not public', async () => {
      const before = connections.size;
      const local = { address: '127.0.0.1', family: 4 };
      const open = { address: '93.184.215.14', family: 4 };
      const mapped = { address: '::ffff:127.0.0.1', family: 6 };
      for (const addresses of [[local], [open, local], [local, open], [mapped], []]) {
        resolve = (_name, _options, callback) => callback(null, addresses);
        await expectRefused(`https://tools.example.com${port()}/c.json`, 502);
      }
      expect(connections.size).to.equal(before);
    });
  });

  it('is fetched 60 times in ten minutes for a client address, whatever the rate limit is', async () => {
    const limited = 'trusted-proxies: 127.0.0.1\nrate-limit: 10000';
    await restartWith('any', { relay: limited });
    const path = () => {
      const { parameters } = oauthStart({ client_id: newId(), redirect_uri: loopback });
      return `/auth/provider?${encoded(parameters)}`;
    };
    const from = async (address: string, site = 'cross-site') => {
      const headers: [string, string][] = [...navigationWith('Sec-Fetch-Site', site), ['X-Forwarded-For', address]];
      return (await relay.send({ path: path(), headers })).status;
    };
    for (let fetched = 0; fetched < 60; fetched += 1) {
      expect(await from('198.51.100.1')).to.equal(200);
    }
    expect(await from('198.51.100.1')).to.equal(429);
    expect(requests).to.have.lengthOf(60);
    // A page sends its visitor to a start as often as it likes.
    expect(await from('198.51.100.1', 'none')).to.equal(200);
    // One address in 65,536 shares the counter of another address.
    expect([await from('198.51.100.2'), await from('198.51.100.3')]).to.include(200);
    await restartWith('any');
  });

  it('is one of 32 documents that are fetched at once, and a further fetch is refused and not queued', async () => {
    const held: (() => void)[] = [];
    respond = (request, response) => {
      held.push(() => documentWith()(request, response));
      if (held.length === 32) isFull();
    };
    const { promise: full, resolve: isFull } = Promise.withResolvers<void>();
    const started = Array.from({ length: 32 }, () => start(newId()));
    await full;
    for (let more = 0; more < 8; more += 1) await expectRefused(newId(), 503);
    for (const answer of held) answer();
    for (const { token } of await Promise.all(started)) expect(token).not.to.equal('');
    expect(requests).to.have.lengthOf(32);
  });

  it('is one of four documents that are fetched at once for a client address', async () => {
    await restartWith('any', { relay: 'trusted-proxies: 127.0.0.1' });
    const held: (() => void)[] = [];
    respond = (request, response) => {
      held.push(() => documentWith()(request, response));
      if (held.length === 4) isFull();
    };
    const { promise: full, resolve: isFull } = Promise.withResolvers<void>();
    const from = async (address: string) => {
      const { parameters } = oauthStart({ client_id: newId(), redirect_uri: loopback });
      const path = `/auth/provider?${encoded(parameters)}`;
      return (await relay.send({ path, headers: [['X-Forwarded-For', address]] })).status;
    };
    const started = Array.from({ length: 4 }, () => from('198.51.100.1'));
    await full;
    expect(await from('198.51.100.1')).to.equal(503);
    const other = from('198.51.100.2');
    await eventually(async () => expect(held).to.have.length(5));
    for (const answer of held) answer();
    expect(await Promise.all([...started, other])).to.deep.equal([200, 200, 200, 200, 200]);
    await restartWith('any');
  });

  it('is fetched only for a navigation, which shows the question', async () => {
    const { parameters } = oauthStart({ client_id: newId(), redirect_uri: loopback });
    const path = `/auth/provider?${encoded(parameters)}`;
    for (const [name, value, status] of [
      ['Sec-Fetch-Mode', 'no-cors', 400],
      ['Sec-Fetch-Dest', 'iframe', 400],
      ['Sec-Fetch-Mode', 'navigate', 200],
    ] as const) {
      expect((await relay.send({ path, headers: [[name, value]] })).status).to.equal(status);
      expect(requests).to.have.length(status === 200 ? 1 : 0);
    }
  });

  it('leaves no idle connection, because anybody can name any number of hosts', async () => {
    let connection: string | undefined;
    respond = (request, response) => {
      ({ connection } = request.headers);
      documentWith()(request, response);
    };
    await expectAsked(newId());
    expect(connection).to.equal('close');
  });

  it('has its host resolved once, by the connection itself', async () => {
    let asked = 0;
    resolve = (_name, _options, callback) => {
      asked += 1;
      const address = asked === 1 ? '127.0.0.1' : '10.0.0.1';
      callback(null, [{ address, family: 4 }]);
    };
    const id = `https://tools.example.com${host.replace('localhost', '')}/moving.json`;
    respond = documentWith({ client_id: id });
    await expectAsked(id);
    expect(asked).to.equal(1);
  });
});

describe('the host of a document', () => {
  const { resolve4, resolve6 } = promises.Resolver.prototype;
  after(() => {
    Object.assign(promises.Resolver.prototype, { resolve4, resolve6 });
  });

  it('is asked of DNS, so that slow names do not hold the threads that resolve providers', async () => {
    const nothing = async () => {
      throw new Error('ENODATA');
    };
    const resolved = async (ipv4: () => Promise<string[]>, ipv6: () => Promise<string[]>) => {
      Object.assign(promises.Resolver.prototype, { resolve4: ipv4, resolve6: ipv6 });
      return await new Promise((done) => {
        createPublicLookup(false)('tools.example.com', { all: true }, (error, addresses) => {
          done(error === null ? addresses : error.message);
        });
      });
    };
    const open = async () => ['93.184.215.14'];
    expect(await resolved(open, nothing)).to.deep.equal([{ address: '93.184.215.14', family: 4 }]);
    expect(await resolved(nothing, async () => ['2606:4700::1111'])).to.deep.equal([
      { address: '2606:4700::1111', family: 6 },
    ]);
    expect(await resolved(open, async () => ['::1'])).to.contain('not public');
    expect(await resolved(nothing, nothing)).to.contain('not public');
  });
});

describe('a public address', () => {
  for (const address of ['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8']) {
    it(`is ${address}`, () => {
      expect(isPublicAddress(address)).to.equal(true);
    });
  }
  for (const address of `127.0.0.1 127.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
    100.100.100.200 0.0.0.0 0.1.2.3 255.255.255.255 224.0.0.1 240.0.0.1 192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1
    198.18.0.1 198.19.255.255 192.88.99.1 ::1 :: ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:0:127.0.0.1 ::10.0.0.1 ::7f00:1
    64:ff9b::a00:1 64:ff9b::8.8.8.8 64:ff9b:1::a00:1 2002:a00:1:: 2002:7f00:1:: 2001:0:a00:1:: 2001:db8::1 2001:10::1
    2001:20::1 2001:2::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 fd20:ce::254 ff02::1 100::1 3fff::1 5f00::1
    2130706433 0x7f.0.0.1 017700000001 127.1 localhost`
    .split(/\s+/)
    .filter((one) => one !== '')) {
    it(`is not ${address}`, () => {
      expect(isPublicAddress(address)).to.equal(false);
    });
  }
});
