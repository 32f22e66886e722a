import { RelayError } from '../errors.ts';
import { parseJsonObject } from './json.ts';
import type { ObserveCall, ProviderClient } from './provider-client.ts';

/**
 * Asks the provider for the record of the token's user.
 *
 * @returns the provider's JSON object, byte for byte
 * @throws {RelayError} `token_invalid` where the provider does not answer 200,
 *   `provider_answer_unusable` where its 200 is no JSON object, or why the call itself failed
 */
export async function lookUpUser(
  client: ProviderClient,
  userUrl: string,
  accessToken: string,
  observe: ObserveCall,
): Promise<Uint8Array> {
  const { status, body } = await client.call(
    {
      endpoint: 'user',
      method: 'GET',
      url: userUrl,
      headers: { authorization: `Bearer ${accessToken}` },
    },
    observe,
  );
  if (status !== 200) throw new RelayError('token_invalid');
  if (parseJsonObject(body) === undefined) throw new RelayError('provider_answer_unusable');
  return body;
}
