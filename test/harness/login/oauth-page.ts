import { expect } from 'chai';
import { type Consenting, FakeBrowser } from '../browser/fake-browser.ts';
import type { Answer } from '../client/http-client.ts';
import { makeProof, type ProofChanges, type ProofKey } from '../client/proof.ts';
import { remember } from '../expect/canaries.ts';
import { issuer, logInTo, type Parameters, redemption, requestToken } from './oauth-front-end.ts';

/** A token response of the relay. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresIn: number | undefined;
  readonly refreshExpiresIn: number | undefined;
  readonly scope: string | undefined;
}

/** The changes to a request of a page. */
export interface PageRequest {
  readonly parameters?: Parameters;
  readonly headers?: [name: string, value: string][];
  readonly origin?: string;
  readonly signal?: AbortSignal;
  /** The changes to the proof, another key, or `none`. */
  readonly proof?: (ProofChanges & { readonly by?: ProofKey }) | 'none';
}

const tokenUrl = `${issuer}/token`;

/** A page of the front end that has a key, and sends a proof with every request. */
export class OAuthPage {
  readonly #relay: { readonly port: number };
  readonly #provider: Consenting;
  readonly #key: ProofKey | undefined;
  #nonce: string | undefined;

  /** @param key undefined if the page has no key */
  constructor(relay: { readonly port: number }, provider: Consenting, key: ProofKey | undefined) {
    this.#relay = relay;
    this.#provider = provider;
    this.#key = key;
  }

  /** Logs in and redeems the code. */
  async logIn(): Promise<Tokens> {
    const browser = new FakeBrowser(() => this.#relay);
    const response = await logInTo(browser, { provider: this.#provider });
    return tokensOf(await this.request(redemption(response)));
  }

  /** Asks for new tokens. */
  async refresh(refreshToken: string, request: PageRequest = {}): Promise<Answer> {
    const parameters = {
      grant_type: 'refresh_token',
      client_id: 'app',
      refresh_token: refreshToken,
      ...request.parameters,
    };
    return await this.request(parameters, request);
  }

  /** Sends a token request, again if the relay asks for a nonce. */
  async request(parameters: Parameters, request?: Omit<PageRequest, 'parameters'>): Promise<Answer> {
    const answer = await this.#send(parameters, request);
    const nonce = answer.headers['dpop-nonce'];
    this.#nonce = nonce === undefined ? this.#nonce : `${nonce}`;
    const asksForNonce = `${answer.body}`.includes('"use_dpop_nonce"');
    return asksForNonce ? await this.#send(parameters, request) : answer;
  }

  async #send(
    parameters: Parameters,
    { headers = [], proof = {}, ...sending }: Omit<PageRequest, 'parameters'> = {},
  ): Promise<Answer> {
    const key = proof === 'none' ? undefined : (proof.by ?? this.#key);
    if (key === undefined || proof === 'none') {
      return await requestToken(this.#relay, parameters, headers, sending);
    }
    const claims = { nonce: this.#nonce, ...proof.claims };
    const now = Math.floor(Date.now() / 1000);
    const made = await makeProof(key, tokenUrl, now, { ...proof, claims });
    remember(made, key.thumbprint);
    return await requestToken(this.#relay, parameters, [['DPoP', made], ...headers], sending);
  }
}

/** The tokens in a successful answer of the token endpoint. */
export function tokensOf({ status, body, headers }: Answer): Tokens {
  expect(status, `${body}`).to.equal(200);
  expect(headers['cache-control']).to.equal('no-store');
  const answer = JSON.parse(`${body}`);
  const { access_token, refresh_token = '', token_type, expires_in, scope } = answer;
  expect('refresh_token_expires_in' in answer).to.equal(refresh_token !== '');
  expect(access_token).to.be.a('string').and.not.equal('');
  expect(token_type).to.equal('bearer');
  remember(access_token, refresh_token);
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    expiresIn: expires_in,
    refreshExpiresIn: answer.refresh_token_expires_in,
    scope,
  };
}
