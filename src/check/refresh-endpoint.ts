import { explainMissingToken } from '../oauth/token-error.ts';
import { buildTokenRequest } from '../oauth/token-request.ts';
import { UnseenSecret } from '../sealing/secret.ts';
import { ask, explainWrongEndpoint } from './answer.ts';
import { madeUp, type ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

const endpoint = findingsOn('refresh endpoint');

/** Sends a made-up refresh token to `refresh-url`, if there is one. */
export async function checkRefreshEndpoint(context: ProviderContext): Promise<Finding[]> {
  const { registration, provider, describe } = context;
  if (provider.refreshUrl === undefined) return [];
  if (registration.clientSecret instanceof UnseenSecret) {
    return [endpoint.notChecked('not asked: this command does not have the client secret')];
  }
  const request = buildTokenRequest({ ...provider, ...registration }, { refreshToken: madeUp });
  const answer = await ask(context, { endpoint: 'token', ...request });
  const fix = `correct ${describe('refreshUrl')}`;
  if ('fix' in answer) return [endpoint.problem(answer.message, answer.fix)];
  const wrongEndpoint = explainWrongEndpoint(endpoint, answer, fix);
  if (wrongEndpoint !== undefined) return [wrongEndpoint];
  const { code } = explainMissingToken(answer, 'refresh_token');
  if (code === 'refresh_refused') return [endpoint.ok('refuses a made-up refresh token, as it must')];
  if (code === 'client_refused') {
    const compare = `compare ${describe('clientId')}, its secret and ${describe('tokenRequest')}`;
    return [endpoint.problem('does not accept the client identifier with this client secret', compare)];
  }
  const message = `answers a made-up refresh token with status ${answer.status}, which says nothing about a real one`;
  return [endpoint.notChecked(message, 'see what a login gets, with check --login')];
}
