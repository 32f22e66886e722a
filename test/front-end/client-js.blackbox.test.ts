import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { version } from '../../src/version.ts';
import { frontendOrigin, relayUnderTest } from '../harness/relay/relay-under-test.ts';

const projectFile = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('/client.js', () => {
  const underTest = relayUnderTest();
  const getWith = (name: string, value: string, path = '/client.js') =>
    underTest().send({ path, headers: [[name, value]] });

  it('is the browser client, for an hour, and /client.d.ts has its types', async () => {
    const module = await underTest().get('/client.js');
    expect(module.status).to.equal(200);
    expect(module.headers).to.include({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    });
    expect(`${module.body}`).to.equal(projectFile('client/client.js'));
    const types = await underTest().get('/client.d.ts');
    expect(types.headers['content-type']).to.equal('text/plain; charset=utf-8');
    expect(`${types.body}`).to.equal(projectFile('client/client.d.ts'));
  });

  it('has a package at a second address, which never changes, and is not compressed again', async () => {
    const { status: found, headers: to } = await underTest().get('/client.tgz');
    expect([found, to.location]).to.deep.equal([307, `login-relay-client-${version}.tgz`]);
    const { status, headers, body } = await getWith('Accept-Encoding', 'gzip', `/${to.location}`);
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/gzip');
    expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
    expect(headers).not.to.have.property('content-encoding');
    expect(body).to.deep.equal(readFileSync(new URL('../../client/client.tgz', import.meta.url)));
  });

  for (const origin of [frontendOrigin, 'https://anywhere.example.com', undefined]) {
    it(`can be imported by a page of ${origin ?? 'its own origin'}`, async () => {
      const fetched = origin ? getWith('Origin', origin) : underTest().get('/client.js');
      const module = await fetched;
      expect(module.status).to.equal(200);
      expect(module.headers['access-control-allow-origin']).to.equal('*');
      expect(module.headers).not.to.have.property('access-control-allow-credentials');
      expect(module.headers['vary']).to.equal('Accept-Encoding');
      expect(module.headers['cross-origin-resource-policy']).to.equal('cross-origin');
    });
  }

  it('has a package that pages of any origin can read, also where its address without the version leads', async () => {
    for (const origin of [frontendOrigin, 'https://anywhere.example.com']) {
      const { status, headers } = await getWith('Origin', origin, '/client.tgz');
      expect(status).to.equal(307);
      expect(headers).to.include({
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      });
      expect(headers).not.to.have.any.keys('access-control-allow-credentials', 'access-control-expose-headers');
      const target = await getWith('Origin', origin, `/${headers.location}`);
      expect(target.headers['access-control-allow-origin']).to.equal('*');
    }
  });

  for (const [accepted, encoding, decode] of [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0', undefined, Buffer.from],
    ['identity', undefined, Buffer.from],
  ] as const) {
    it(`is sent in ${encoding ?? 'plain'} to clients that accept ${accepted}, with a separate ETag`, async () => {
      const { headers, body } = await getWith('Accept-Encoding', accepted);
      expect(headers['content-encoding']).to.equal(encoding);
      expect(headers.vary).to.equal('Accept-Encoding');
      expect(headers.etag).to.match(encoding ? new RegExp(`-${encoding}"$`) : /^"[\w-]{43}"$/);
      expect(decode(body).toString()).to.equal(projectFile('client/client.js'));
    });
  }

  it('answers 304 to a browser that has it', async () => {
    const { etag = '' } = (await underTest().get('/client.js')).headers;
    const again = await getWith('If-None-Match', etag);
    expect(again.status).to.equal(304);
    expect(again.headers.etag).to.equal(etag);
    expect(again.body).to.have.lengthOf(0);
    expect((await getWith('If-None-Match', '"other"')).status).to.equal(200);
  });

  it('answers HEAD without the text, and allows only GET and HEAD', async () => {
    const head = await underTest().send({ method: 'HEAD', path: '/client.js' });
    expect(head.status).to.equal(200);
    expect(head.headers['content-length']).to.equal(`${Buffer.byteLength(projectFile('client/client.js'))}`);
    expect(head.body).to.have.lengthOf(0);
    expect((await underTest().send({ method: 'POST', path: '/client.js' })).status).to.equal(405);
  });
});
