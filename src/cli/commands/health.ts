import { once } from 'node:events';
import { get as getPlainly, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import getRawBody from 'raw-body';
import * as v from 'valibot';
import { createPlacedMessages } from '../../config/fault.ts';
import { readConfigFile } from '../../config/file/read.ts';
import { createReading } from '../../config/map-reading.ts';
import type { OptionSources } from '../../config/option-sources.ts';
import { pathSegment } from '../../config/schemas.ts';
import { mergeOptions } from '../../config/settings-map.ts';
import { paths } from '../../paths.ts';
import { readTextFile } from '../../text-files.ts';
import { hostInUrl } from '../../urls.ts';
import { print } from '../print.ts';

/** Milliseconds for the whole answer. */
const patience = 3_000;
const maxAnswerSize = 16 * 1024;

/** The answer of a relay. Another program may answer at this port, so that text of any other form is not printed. */
const answerSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    detail: v.optional(v.pipe(v.string(), v.regex(/^Not ready: [\w(), -]+\.$/))),
    unavailable: v.optional(v.array(pathSegment)),
    memory: v.optional(v.literal('away')),
  }),
);

/**
 * `login-relay health`: asks the relay of this machine whether it is ready, for probes of containers and timers. It
 * prints why not, where logins cannot start, and whether the shared memory is away.
 *
 * @returns the exit code: 0 if it is ready, 1 if it is not, or does not answer
 * @throws {ConfigError} if port, host or the configuration file have faults
 */
export async function health(sources: OptionSources): Promise<0 | 1> {
  const faults = createPlacedMessages();
  const warnings = createPlacedMessages();
  const file = readConfigFile(sources, readTextFile, faults, warnings);
  const context = { ...sources, readFile: readTextFile, faults, warnings };
  // Only the settings that this command uses are checked, because a fault in another setting must not fail the probe.
  const { values, reportRefusedValue } = createReading(context, mergeOptions(sources, 'relay', file));
  for (const name of ['port', 'host', 'tlsCert']) reportRefusedValue(name);
  const { port, host = '', tlsCert } = values;
  faults.expectNone();
  const answer = await askReadiness(`${tlsCert ? 'https' : 'http'}://${hostToConnectTo(host)}:${port}`);
  await print(`${answer}\n`);
  return answer.startsWith('ready') ? 0 : 1;
}

/** The host for the URL of a relay. A relay can listen on 0.0.0.0 or ::, but a client cannot connect to them. */
function hostToConnectTo(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return hostInUrl(host === '::' ? '::1' : host);
}

/** Asks a relay whether it is ready, and describes the answer, or that there is none. */
async function askReadiness(address: string): Promise<string> {
  const get = address.startsWith('https') ? getSecurely : getPlainly;
  const signal = AbortSignal.timeout(patience);
  // The certificate names the public host, not this address. The exchange contains no secret, so it is not verified.
  const request = get(address + paths.ready, { rejectUnauthorized: false, signal });
  // The time may be over while the body arrives, and an error without a listener would end the process.
  request.on('error', () => {});
  const [response]: IncomingMessage[] = await once(request, 'response').catch(() => []);
  return response ? await describeAnswer(response, address) : `no answer from ${address}`;
}

/** Describes an answer of `/readyz`. The description of a ready relay begins with `ready`. */
async function describeAnswer(response: IncomingMessage, address: string): Promise<string> {
  const options = { limit: maxAnswerSize, encoding: 'utf8' } as const;
  const body = await getRawBody(response, options).catch(() => '');
  response.destroy();
  const { success, output } = v.safeParse(answerSchema, body);
  const { detail, unavailable = [], memory } = success ? output : {};
  if (response.statusCode === 200) {
    const except = unavailable.length > 0 ? `, except: ${unavailable.join(', ')}` : '';
    return `ready at ${address}${except}${memory ? '; the shared memory is away' : ''}`;
  }
  // The detail is `Not ready: why.`, of which `: why` is shown.
  const reason = detail?.slice('Not ready'.length, -1) ?? '';
  return `not ready (${response.statusCode}) at ${address}${reason}`;
}
