import { RelayError } from '../../failures/relay-error.ts';
import { type RevocableTokens, splitTokens } from '../../oauth/revocation.ts';
import type { TokenResponse } from '../../oauth/token-response.ts';
import { explainWrongEndpoint } from '../answer.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { askForIdAndName, describeFaults } from './person.ts';
import { explainFailedCall, ignoreCall, type Step, type Trial } from './trial.ts';

const refresh = findingsOn('refresh');

/** Refreshes the tokens of the login once, if there is a refresh token. */
export async function refreshOnce(trial: Trial, { refreshToken }: TokenResponse): Promise<Step<TokenResponse>> {
  const { login, provider, calls, describe } = trial;
  if (refreshToken === undefined) {
    const asks = login.frontEnd.asksForRefresh ? '' : ', and logins of this front end ask for none';
    const advice = `if the provider gives them for another scope or parameter, set ${describe('scope')} or ${describe('authorizeParams')}`;
    return { findings: [refresh.notChecked(`there is no refresh token${asks}`, advice)] };
  }
  calls.setPurpose('refresh');
  const registration = await login.registrationAt(provider);
  try {
    const result = await registration.requestToken({ refreshToken }, ignoreCall);
    const next = result.refreshToken === undefined ? 'the refresh token stays' : 'there is also a new refresh token';
    return { findings: [refresh.ok(`gives another access token; ${next}`)], result };
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return { findings: [explainFailedRefresh(trial, error)] };
  }
}

/** Says why a refresh gave no token. */
function explainFailedRefresh(trial: Trial, { code, detail }: RelayError): Finding {
  const { calls, describe } = trial;
  const last = calls.last();
  if (last?.answer === undefined) {
    const { message, fix } = last ? explainFailedCall(trial, last) : { message: detail, fix: null };
    return refresh.problem(message, fix);
  }
  const { status } = last.answer;
  const elsewhere = `set ${describe('refreshUrl')}, if refresh tokens are sent elsewhere`;
  const wrongEndpoint = explainWrongEndpoint(refresh, last.answer, elsewhere);
  if (wrongEndpoint !== undefined) return wrongEndpoint;
  if (code === 'client_refused') {
    const advice = `${elsewhere}, or compare ${describe('tokenRequest')}`;
    return refresh.problem(`does not accept the client of this relay (status ${status})`, advice);
  }
  const message = `a refresh token that was just given is refused (status ${status})`;
  return refresh.problem(message, `${elsewhere}; or ${describe('tokenParams')}, if a refresh needs more`);
}

/** Checks whether the answer to a refresh has an ID token that says who the person is, if the relay needs it. */
export async function checkPersonAfterRefresh(
  trial: Trial,
  { accessToken, idToken }: TokenResponse,
): Promise<Finding[]> {
  if (trial.provider.userFrom !== 'id-token') return [];
  // The id and the login name may also have to be asked for at the user endpoint.
  trial.calls.setPurpose('user endpoint');
  const verdict = await askForIdAndName(trial, { accessToken, idToken });
  if (!(verdict instanceof RelayError)) return [];
  const why = describeFaults(verdict.fields) ?? verdict.detail;
  return [
    findingsOn('person after a refresh').problem(
      `the answer does not say who somebody is: ${why}`,
      'without that, people log in again when their access token ends',
    ),
  ];
}

/** Revokes the tokens of the check, or says why they stay valid. */
export async function revokeAll(trial: Trial, tokens: readonly (RevocableTokens | undefined)[]): Promise<Finding[]> {
  const { ok, warning } = findingsOn('revocation');
  const { login, provider, calls, describe } = trial;
  const responses = tokens.flatMap((response) => (response ? [response] : []));
  if (responses.length === 0) return [];
  if (provider.revocation === undefined) {
    const advice = `withdraw the application in the account’s settings at the provider; ${describe('revocationUrl')} can name an endpoint`;
    return [findingsOn('revocation').notChecked('the tokens of this check are valid until they end', advice)];
  }
  calls.setPurpose('revocation');
  const registration = await login.registrationAt(provider);
  let failure: string | undefined;
  let revoked = 0;
  for (const token of responses.flatMap(splitTokens)) {
    const callsBefore = calls.made.length;
    try {
      await registration.revokeToken(token, ignoreCall);
      // Some providers take only one kind of token, so that no call is made for the other.
      if (calls.made.length > callsBefore) revoked += 1;
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      // An earlier revocation may have ended all tokens of the login.
      if (error.code === 'token_invalid' && revoked > 0) continue;
      const status = calls.last()?.answer?.status;
      failure ??= `${status ? ` (status ${status})` : ''}: ${error.detail}`;
    }
  }
  if (failure === undefined) return [ok('the tokens of this check are revoked')];
  const advice = `correct ${describe('revocationUrl')}; withdraw the application in the account’s settings at the provider`;
  return [warning(`not all tokens of this check are revoked${failure}`, advice)];
}
