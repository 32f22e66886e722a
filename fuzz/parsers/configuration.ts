import assert from 'node:assert/strict';
import { readConfig } from '../../src/config/config.ts';
import { type OptionName, options } from '../../src/config/settings/settings.ts';
import type { OptionSources } from '../../src/config/sources.ts';
import { addressAt } from '../../src/delivery/delivery.ts';
import { authorizationRequest } from '../../src/oauth/authorization-request.ts';
import { exampleOf, matches } from '../../src/origins/origin-pattern.ts';
import { examplePage, originOf } from '../../src/origins/redirect-uri.ts';
import { ConfigError } from '../../src/start-errors.ts';
import { isLoopback } from '../../src/urls.ts';
import { type LoginConfig, loginConfig } from '../../test/config/support/read.ts';

const names = Object.keys(options) as OptionName[];
// A value shorter than this can stand in a message by chance.
const telling = 12;

/** What is configured, beside the content of every file that it names. */
export interface Configuration extends OptionSources {
  readonly file: string;
}

/** Fails where a configuration is neither refused with reasons nor safe to run with. */
export function checkConfiguration(given: Configuration): void {
  const readFile = () => ({ text: given.file, readableByOthers: false });
  let config: LoginConfig;
  try {
    config = loginConfig(readConfig({ ...given, readFile }).config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    assert.ok(error.faults.length > 0);
    for (const fault of error.faults) checkFault(fault, given);
    return;
  }
  const origin = new URL(exampleOf(config.origin));
  assert.equal(origin.origin, exampleOf(config.origin));
  assert.ok(matches(config.origin, origin.origin));
  assert.equal(
    new URL(config.redirectUri).pathname.endsWith(`/auth/${config.pathName}/callback`),
    true,
  );
  if (config.tokenDelivery === 'session') {
    const relay = new URL(config.baseUrl);
    assert.equal(relay.protocol, origin.protocol);
    assert.equal(config.stateCheck, 'always');
    assert.ok(config.keySecrets !== undefined || isLoopback(relay));
  }
  for (const redirectUri of config.redirectUris) {
    assert.equal(originOf(redirectUri), config.origin);
    const url = new URL(examplePage(redirectUri));
    assert.equal(url.href, examplePage(redirectUri));
    assert.equal(url.origin, origin.origin);
    assert.equal(url.hash + url.username + url.password, '');
  }
  const parameters = { access_token: 'token', state: '//evil.example\r\nX: 1' };
  const url = config.frontendUrl ?? origin.href;
  const target = addressAt({ url, part: 'query', parameters }, {});
  assert.equal(new URL(target).origin, origin.origin);
  assert.match(target, /^[\x21-\x7e]+$/);
  if (!('known' in config.provider)) return;
  const provider = config.provider.known;
  const authorization = authorizationRequest(config, provider)();
  assert.equal(new URL(authorization).host, new URL(provider.authorizeUrl).host);
  assert.match(authorization, /^[\x21-\x7e]+$/);
  for (const url of [provider.authorizeUrl, provider.tokenUrl, provider.userUrl]) {
    assert.match(url, /^https?:\/\/[^/@]+(\/|\?|$)/);
  }
}

function checkFault(fault: string, { flags, environment, file }: Configuration): void {
  assert.doesNotMatch(fault, /\p{Cc}|\p{Cf}/u, 'a fault has a control character');
  const known = names.map((name) => JSON.stringify(options[name])).join();
  const shown = names.filter((name) => !('secret' in options[name]));
  const variables = new Set<string>(shown.map((name) => options[name].variable));
  const secrets = [
    ...names.filter((name) => !shown.includes(name)).flatMap((name) => flags[name]),
    ...Object.keys(environment).map((name) => (variables.has(name) ? '' : environment[name])),
    file,
  ];
  // The same text may also be the value of an option that is shown.
  const quotable = [
    ...shown.flatMap((name) => flags[name]),
    ...[...variables].map((name) => environment[name]),
  ];
  for (const secret of secrets) {
    if (secret === undefined || secret.length < telling || known.includes(secret)) continue;
    if (quotable.some((value) => value?.includes(secret))) continue;
    assert.ok(!fault.includes(secret), 'a fault quotes a secret');
  }
}

/** A line an option: `name=value` is a flag, `NAME=value` a variable; the rest is the file. */
export function fuzz(data: Buffer): void {
  const [settings = '', ...file] = data.toString().split('\n\n');
  const flags: Partial<Record<OptionName, string[]>> = {};
  const environment: Record<string, string> = {};
  for (const line of settings.split('\n')) {
    const [name = '', ...rest] = line.split('=');
    const value = rest.join('=');
    const option = names.find((one) => one === name);
    if (option === undefined) environment[name] = value;
    else flags[option] = [...(flags[option] ?? []), value];
  }
  checkConfiguration({ flags, environment, file: file.join('\n\n') });
}
