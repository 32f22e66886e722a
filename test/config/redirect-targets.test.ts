import { expect } from 'chai';
import { loginConfig } from '../../src/check/context.ts';
import { readConfig } from '../../src/config/config.ts';
import type { OptionName } from '../../src/config/settings/settings.ts';
import { withPart } from '../../src/delivery/redirect-delivery.ts';
import { authorizationRequestUrl } from '../../src/oauth/authorization-request.ts';
import { DiscoveryError } from '../../src/oauth/metadata.ts';
import { ConfigError } from '../../src/start-errors.ts';
import type { UpstreamClient } from '../../src/upstream/client.ts';
import { discoverProvider } from '../../src/upstream/discovery.ts';
import { redirectPayloads } from '../harness/client/redirect-payloads.ts';

const usual = {
  origin: 'https://app.example',
  clientId: 'client-1',
  clientSecret: 'secret-1',
  baseUrl: 'https://relay.example',
};

/** The targets of redirects with this configuration; none if the configuration is refused. */
function targetsWith(name: OptionName, value: string) {
  const flags = Object.fromEntries(
    Object.entries({ ...usual, [name]: value }).map(([option, one]) => [option, [one]]),
  );
  try {
    const reading = readConfig({
      flags,
      environment: {},
      readFile: () => {
        throw new Error('no file is named');
      },
    });
    const config = loginConfig(reading.config);
    if (!('known' in config.provider)) throw new Error('no issuer is named');
    return {
      config,
      frontEnd: withPart(config.frontendUrl ?? '', 'query', { access_token: 'token' }),
      provider: authorizationRequestUrl(config, config.provider.known),
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

describe('what the configuration makes of payloads', () => {
  const asWritten = 'https://written.example';

  it('never leads beyond the origin, whatever --frontend-url is', () => {
    for (const payload of redirectPayloads) {
      for (const value of [payload, `${usual.origin}/${payload}`, usual.origin + payload]) {
        const targets = targetsWith('frontendUrl', value);
        if (targets !== undefined && value !== '') expectAsWritten(targets.frontEnd, usual.origin);
      }
    }
  });

  it('never leads beyond the origin, whatever --redirect-uri is', () => {
    for (const payload of redirectPayloads) {
      for (const value of [payload, `${usual.origin}/${payload}`, usual.origin + payload]) {
        if (value === '') continue;
        for (const redirectUri of targetsWith('redirectUri', value)?.config.redirectUris ?? []) {
          expectAsWritten(redirectUri, usual.origin);
        }
      }
    }
  });

  it('leads only to --origin and --authorize-url', () => {
    for (const payload of redirectPayloads) {
      for (const value of [payload, asWritten + payload, `${asWritten}/${payload}`]) {
        if (value === '') continue;
        const frontEnd = targetsWith('origin', value)?.frontEnd;
        if (frontEnd !== undefined) expectAsWritten(frontEnd, value);
        const provider = targetsWith('authorizeUrl', value)?.provider;
        if (provider !== undefined) expectAsWritten(provider, value);
      }
    }
  });

  it('has only redirect URIs inside --base-url', () => {
    for (const payload of redirectPayloads) {
      for (const value of [payload, asWritten + payload, `${asWritten}/${payload}`]) {
        const redirectUri = targetsWith('baseUrl', value)?.config.redirectUri;
        if (redirectUri === undefined || value === '') continue;
        expectAsWritten(redirectUri, value);
        expect(new URL(redirectUri).pathname).to.match(/\/auth\/provider\/callback$/);
      }
    }
  });

  it('discovers only https URLs as endpoints of the provider', async () => {
    const issuer = 'https://id.example';
    for (const payload of redirectPayloads) {
      const metadata = {
        issuer,
        authorization_endpoint: payload,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/user`,
      };
      const client: UpstreamClient = {
        call: async () => ({
          status: 200,
          headers: {},
          body: Buffer.from(JSON.stringify(metadata)),
        }),
        stream: () => Promise.reject(new Error('not used')),
        expectRoom() {},
        inFlight: () => 0,
        close() {},
      };
      try {
        const source = { issuer, given: {}, insecureHttp: false, encodingChanges: false };
        const provider = await discoverProvider(client, source);
        const client1 = { clientId: 'client-1', redirectUri: 'https://relay.example/callback' };
        expectAsWritten(authorizationRequestUrl(client1, provider), payload);
      } catch (error) {
        expect(error, payload).to.be.instanceOf(DiscoveryError);
      }
    }
  });
});
