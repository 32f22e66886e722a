import * as v from 'valibot';
import type { Config, RegistrationConfig } from '../config/config.ts';
import { options } from '../config/settings/settings.ts';
import { changesWhenEncoded } from '../oauth/client-authentication.ts';
import { DiscoveryError, type MetadataContext } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import { type CheckContext, createCheckClient } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import { explainCall } from './unreached.ts';

const discovery = findingsOn('discovery');

/** Reads the provider's metadata from its issuer, as a relay does when it starts. A known provider needs no discovery. */
export async function checkDiscovery(context: CheckContext) {
  const { registration, client } = context;
  const { provider: settings } = registration;
  if ('known' in settings) return { findings: [], provider: settings.known };
  const found = await discover(client, registration);
  return found instanceof DiscoveryError
    ? { findings: [await explainFailure(context, found, settings.discovered)] }
    : { findings: [discovery.ok('the issuer describes its endpoints')], provider: found };
}

/** Discovers the providers, and returns them by registration, without those that cannot be discovered now. */
export async function discoverProviders(config: Config): Promise<ReadonlyMap<string, Provider>> {
  const client = createCheckClient(config);
  const discovered = new Map<string, Provider>();
  const discovering = config.registrations.map(async (registration) => {
    const provider = await discover(client, registration);
    if (!(provider instanceof DiscoveryError)) discovered.set(registration.name, provider);
  });
  await Promise.all(discovering).finally(client.close);
  return discovered;
}

/** Discovers the provider of a registration, unless it is known. Returns an error if that fails. */
async function discover(client: UpstreamClient, registration: RegistrationConfig) {
  const { provider, clientId } = registration;
  if ('known' in provider) return provider.known;
  // Discovery only asks whether form-encoding changes the secret. It rarely does, so an empty secret can stand in.
  const isUnseen = registration.clientSecret instanceof UnseenSecret;
  const clientSecret = isUnseen ? new Secret('') : registration.clientSecret;
  const encodingChanges = changesWhenEncoded({ clientId, clientSecret });
  try {
    return await discoverProvider(client, { ...provider.discovered, clientId, encodingChanges });
  } catch (error) {
    if (error instanceof DiscoveryError) return error;
    throw error;
  }
}

/** Says why an issuer does not describe its provider, and what to correct. */
async function explainFailure(
  context: CheckContext,
  error: DiscoveryError,
  asked: Pick<MetadataContext, 'issuer' | 'metadataUrl'>,
): Promise<Finding> {
  const { issuer, metadataUrl } = asked;
  const { reason, explanation, code, metadataIssuer } = error;
  if (reason === 'unreachable' || reason === 'timeout' || reason === 'too_large') {
    const { message, fix } = explainCall(new URL(metadataUrl ?? issuer), reason, code, context);
    return discovery.problem(message, fix);
  }
  const correct = context.describe('issuer');
  // The issuer in metadata is untrusted text, so it is shown only if it is a URL of usual length.
  if (v.is(options.issuer.schema, metadataIssuer) && metadataIssuer.length <= 200) {
    return await explainOtherIssuer(context, metadataIssuer, asked);
  }
  // An explanation is a message and, after its first colon, a remedy.
  const [message = '', remedy = 'try again later: a relay that runs keeps trying'] = explanation.split(/: (.*)/);
  const fix = remedy.replace(
    'the issuer',
    metadataUrl === undefined ? correct : context.describeOfProvider('metadataUrl'),
  );
  return discovery.problem(message, fix);
}

/** Proposes the issuer that the metadata name, after it was asked whether it has metadata. */
async function explainOtherIssuer(
  { registration, client, describe, describeOfProvider }: CheckContext,
  named: string,
  { issuer, metadataUrl }: Pick<MetadataContext, 'issuer' | 'metadataUrl'>,
): Promise<Finding> {
  const correct = describe('issuer');
  const message = 'the metadata names another issuer';
  if ('known' in registration.provider) throw new Error('only what is discovered has an issuer to compare');
  const { discovered } = registration.provider;
  // Metadata must not make this machine call an address on plain http.
  const mayBeAsked = named.startsWith('https:') || issuer.startsWith('http:');
  const changed = { ...registration, provider: { discovered: { ...discovered, issuer: named } } };
  const found = mayBeAsked ? await discover(client, changed) : new DiscoveryError('unreachable');
  if (!(found instanceof DiscoveryError)) {
    return discovery.problem(message, `if that is your provider, set ${correct} to exactly ${named}`);
  }
  const address = describeOfProvider('metadataUrl');
  return discovery.problem(
    `${message}, ${named}, which has no metadata of that name itself`,
    `correct ${metadataUrl === undefined ? correct : address}; if your provider does call itself ${named}, set ${correct} to that, and ${address} to where its metadata are`,
  );
}
