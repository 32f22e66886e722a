import { expect } from 'chai';
import type { OptionName } from '../../src/config/settings/settings.ts';
import { addressAt } from '../../src/delivery/delivery.ts';
import { ConfigError } from '../../src/failures/start-errors.ts';
import { createAuthorizationUrls } from '../../src/oauth/authorization-request.ts';
import { DiscoveryError, parseMetadata } from '../../src/oauth/metadata.ts';
import { readDescribedProvider } from '../../src/oauth/provider-from-metadata.ts';
import { plainPayloads, redirectPayloads } from '../harness/client/redirect-payloads.ts';
import { metadata } from '../harness/provider/metadata.ts';
import { read } from './support/read.ts';

const places = { origin: 'https://app.example', baseUrl: 'https://relay.example' };
const usual = { ...places, clientId: 'client-1', clientSecret: 'secret-1' };

type Targets = NonNullable<ReturnType<typeof targetsWith>>;

/** The targets of redirects with this configuration; none if the configuration is refused. */
function targetsWith(name: OptionName, value: string) {
  try {
    const { config } = read({ flags: { ...usual, [name]: value }, environment: {} });
    if (!('known' in config.provider)) throw new Error('no issuer is named');
    const { frontendUrl: url = '' } = config;
    return {
      config,
      frontEnd: addressAt({ url, part: 'query', parameters: {} }, { access_token: 'token' }),
      provider: createAuthorizationUrls(config, config.provider.known)(),
    };
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Checks that a URL is printable ASCII and inside the configured place, or was refused. */
function expectAsWritten(target: string, written: string): void {
  expect(target).to.match(/^https:\/\/[\x21-\x7e]+$/);
  const [, host = ''] = /^https:\/\/([^/?#@\\]+?)(:|:443)?([/?#]|$)/i.exec(written) ?? [];
  expect(new URL(target).host).to.equal(host.toLowerCase());
}

describe('the redirects of a configuration with payloads', () => {
  const rows: readonly [OptionName, (found: Targets) => readonly string[]][] = [
    ['frontendUrl', ({ frontEnd }) => [frontEnd]],
    ['redirectUri', ({ config }) => config.redirectUris],
    ['origin', ({ frontEnd }) => [frontEnd]],
    ['authorizeUrl', ({ provider }) => [provider]],
    ['baseUrl', ({ config }) => [config.callbackUri]],
  ];
  for (const [name, targetsOf] of rows) {
    const isInOrigin = name === 'frontendUrl' || name === 'redirectUri';
    const place = isInOrigin ? usual.origin : 'https://written.example';

    it(`never leads beyond what is configured, whatever ${name} is`, () => {
      // The configuration decodes nothing.
      for (const payload of plainPayloads) {
        for (const value of [payload, place + payload, `${place}/${payload}`]) {
          const found = value === '' ? undefined : targetsWith(name, value);
          for (const target of found === undefined ? [] : targetsOf(found)) {
            expectAsWritten(target, isInOrigin ? place : value);
            if (name === 'baseUrl') {
              expect(new URL(target).pathname).to.match(/\/auth\/provider\/callback$/);
            }
          }
        }
      }
    });
  }

  it('takes only https URLs of metadata as endpoints of the provider', () => {
    const issuer = 'https://id.example';
    const context = { issuer, clientId: 'client-1', given: {}, insecureHttp: false, encodingChanges: false };
    const client = { clientId: 'client-1', callbackUri: 'https://relay.example/callback' };
    for (const payload of redirectPayloads) {
      const found = JSON.stringify(metadata(issuer, { authorization_endpoint: payload }));
      try {
        const parsed = parseMetadata(Buffer.from(found), issuer);
        const provider = readDescribedProvider(parsed, 'openid', context);
        expectAsWritten(createAuthorizationUrls(client, provider)(), payload);
      } catch (error) {
        expect(error, payload).to.be.instanceOf(DiscoveryError);
      }
    }
  });
});
