import { expect } from 'chai';
import * as v from 'valibot';
import { redirectUri } from '../../src/origins/origin-schemas.ts';
import { findRedirectUri } from '../../src/origins/redirect-uri.ts';
import { plainPayloads, redirectPayloads } from '../harness/client/redirect-payloads.ts';

const page = '/signed-in?theme=dark';
const texts = [`https://app.example${page}`, `https://*.preview.app.example${page}`, `http://localhost:*${page}`];
const registered = texts.map((text) => v.parse(redirectUri, text));
const find = (given: string) => findRedirectUri(given, registered);

/** Every address that is registered, as a browser writes it. */
const isRegistered =
  /^(https:\/\/app\.example|https:\/\/[a-z0-9-]{1,63}\.preview\.app\.example|http:\/\/localhost(:\d{1,5})?)\/signed-in\?theme=dark$/;

/** Places for a payload in an address. */
const around: Readonly<Record<string, (payload: string) => string>> = {
  'the whole address': (payload) => payload,
  'the label': (payload) => `https://${payload}.preview.app.example${page}`,
  'the end of the label': (payload) => `https://a${payload}.preview.app.example${page}`,
  'the start of the label': (payload) => `https://${payload}a.preview.app.example${page}`,
  'the port': (payload) => `http://localhost:${payload}${page}`,
  'the end of the port': (payload) => `http://localhost:3000${payload}${page}`,
  'the user name': (payload) => `https://${payload}@a.preview.app.example${page}`,
  'the end of the host': (payload) => `https://a.preview.app.example${payload}${page}`,
  'the path': (payload) => `https://a.preview.app.example/${payload}`,
  'the query': (payload) => `https://a.preview.app.example${page}${payload}`,
  'the scheme': (payload) => `${payload}://a.preview.app.example${page}`,
  'a scheme before': (payload) => `${payload}https://a.preview.app.example${page}`,
};

describe('a redirect URI', () => {
  it('is registered with the * of its origin', () => {
    expect(registered).to.deep.equal(texts);
    expect(find(`https://app.example${page}`)).to.equal(texts[0]);
    for (const place of ['https://pull-7.preview.app.example', 'http://localhost:5173', 'http://localhost']) {
      expect(find(place + page)).to.equal(place + page);
    }
  });

  it('has a * that stands for no more than a label or a port', () => {
    for (const given of [
      ...texts.slice(1),
      `https://preview.app.example${page}`,
      `https://a.b.preview.app.example${page}`,
      `https://a_b.preview.app.example${page}`,
      `https://a.preview.app.example:8443${page}`,
      `https://a.preview.app.example${page}#`,
      'https://a.preview.app.example/',
      'https://a.preview.app.example/signed-in',
      'https://a.preview.app.example/Signed-in?theme=dark',
      `https://a:b@a.preview.app.example${page}`,
      `blob:https://a.preview.app.example${page}`,
      `http://a.preview.app.example${page}`,
      `https://localhost:5173${page}`,
      `http://127.0.0.1:5173${page}`,
    ]) {
      expect(find(given), given).to.equal(undefined);
    }
  });

  it('is answered as it is registered, however the request spells it', () => {
    for (const spelling of [
      `HTTPS://PULL-7.Preview.app.example:443${page}`,
      'https:\\\\pull-7.preview.app.example\\signed-in?theme=dark',
      ' https://pull-7.preview.app.ex\nample/sig\tned-in?theme=\rdark\0',
      `https://:@pull-7.preview.app.example/x/..${page}`,
      `https://%70ull-7\uff0epreview.app.example${page}`,
    ]) {
      expect(find(spelling), JSON.stringify(spelling)).to.equal(`https://pull-7.preview.app.example${page}`);
    }
  });

  it('may contain a literal * in its path or query', () => {
    const odd = v.parse(redirectUri, 'https://app.example/a*b?*');
    expect(findRedirectUri(odd, [odd])).to.equal(odd);
    expect(findRedirectUri('https://app.example/aXb?*', [odd])).to.equal(undefined);
  });

  for (const [place, addressOf] of Object.entries(around)) {
    it(`leads to no other place by any of ${redirectPayloads.length} payloads as ${place}`, () => {
      for (const payload of [...plainPayloads, ...redirectPayloads]) {
        const given = addressOf(payload);
        const found = find(given);
        if (found === undefined) continue;
        expect(found, JSON.stringify(given)).to.match(isRegistered);
        expect(found).to.equal(new URL(given).href);
      }
    });
  }
});
