import { expect } from 'chai';
import * as v from 'valibot';
import { findRedirectUri } from '../../src/origins/redirect-uri.ts';
import { redirectUri } from '../../src/origins/schemas.ts';
import { plainPayloads, redirectPayloads } from '../harness/client/redirect-payloads.ts';

const texts = [
  'https://app.example/signed-in?theme=dark',
  'https://*.preview.app.example/signed-in?theme=dark',
  'http://localhost:*/signed-in?theme=dark',
];
const registered = texts.map((text) => v.parse(redirectUri, text));
const find = (given: string) => findRedirectUri(given, registered);

/** Every address that is registered, as a browser writes it. */
const isRegistered =
  /^(https:\/\/app\.example|https:\/\/[a-z0-9-]{1,63}\.preview\.app\.example|http:\/\/localhost(:\d{1,5})?)\/signed-in\?theme=dark$/;

/** Places for a payload in an address. */
const around: Readonly<Record<string, (payload: string) => string>> = {
  'the whole address': (payload) => payload,
  'the label': (payload) => `https://${payload}.preview.app.example/signed-in?theme=dark`,
  'the end of the label': (payload) =>
    `https://a${payload}.preview.app.example/signed-in?theme=dark`,
  'the start of the label': (payload) =>
    `https://${payload}a.preview.app.example/signed-in?theme=dark`,
  'the port': (payload) => `http://localhost:${payload}/signed-in?theme=dark`,
  'the end of the port': (payload) => `http://localhost:3000${payload}/signed-in?theme=dark`,
  'the user name': (payload) => `https://${payload}@a.preview.app.example/signed-in?theme=dark`,
  'the end of the host': (payload) =>
    `https://a.preview.app.example${payload}/signed-in?theme=dark`,
  'the path': (payload) => `https://a.preview.app.example/${payload}`,
  'the query': (payload) => `https://a.preview.app.example/signed-in?theme=dark${payload}`,
  'the scheme': (payload) => `${payload}://a.preview.app.example/signed-in?theme=dark`,
  'a scheme before': (payload) => `${payload}https://a.preview.app.example/signed-in?theme=dark`,
};

describe('a redirect URI', () => {
  it('is registered with the * of its origin', () => {
    expect(registered).to.deep.equal(texts);
    expect(find('https://app.example/signed-in?theme=dark')).to.equal(texts[0]);
    for (const given of [
      'https://pull-7.preview.app.example/signed-in?theme=dark',
      'http://localhost:5173/signed-in?theme=dark',
      'http://localhost/signed-in?theme=dark',
    ]) {
      expect(find(given)).to.equal(given);
    }
  });

  it('has a * that stands for no more than a label or a port', () => {
    for (const given of [
      ...texts.slice(1),
      'https://preview.app.example/signed-in?theme=dark',
      'https://a.b.preview.app.example/signed-in?theme=dark',
      'https://a_b.preview.app.example/signed-in?theme=dark',
      'https://a.preview.app.example:8443/signed-in?theme=dark',
      'https://a.preview.app.example/',
      'https://a.preview.app.example/signed-in',
      'https://a.preview.app.example/signed-in?theme=dark#',
      'https://a.preview.app.example/Signed-in?theme=dark',
      'https://a:b@a.preview.app.example/signed-in?theme=dark',
      'blob:https://a.preview.app.example/signed-in?theme=dark',
      'http://a.preview.app.example/signed-in?theme=dark',
      'https://localhost:5173/signed-in?theme=dark',
      'http://127.0.0.1:5173/signed-in?theme=dark',
    ]) {
      expect(find(given), given).to.equal(undefined);
    }
  });

  it('is answered as it is registered, however the request spells it', () => {
    for (const spelling of [
      'HTTPS://PULL-7.Preview.app.example:443/signed-in?theme=dark',
      'https:\\\\pull-7.preview.app.example\\signed-in?theme=dark',
      ' https://pull-7.preview.app.ex\nample/sig\tned-in?theme=\rdark\0',
      'https://:@pull-7.preview.app.example/x/../signed-in?theme=dark',
      'https://%70ull-7\uff0epreview.app.example/signed-in?theme=dark',
    ]) {
      expect(find(spelling), JSON.stringify(spelling)).to.equal(
        'https://pull-7.preview.app.example/signed-in?theme=dark',
      );
    }
  });

  it('may have a * of its own in its path or query', () => {
    const odd = v.parse(redirectUri, 'https://app.example/a*b?*');
    expect(findRedirectUri('https://app.example/a*b?*', [odd])).to.equal(
      'https://app.example/a*b?*',
    );
    expect(findRedirectUri('https://app.example/aXb?*', [odd])).to.equal(undefined);
  });

  for (const [place, addressOf] of Object.entries(around)) {
    it(`leads nobody astray by a payload as ${place}: ${redirectPayloads.length} payloads`, () => {
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
