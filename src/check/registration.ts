import { describeOption } from '../config/options.ts';
import { type Finding, problem } from './finding.ts';

/** The callback URL is not the one that is registered. */
export function redirectUriRefused(subject: string, redirectUri: string): Finding {
  return problem(
    subject,
    'the provider does not accept the redirect URI',
    `register exactly ${redirectUri} as callback URL, or correct ${describeOption('baseUrl')}`,
  );
}

/** No client of that name is registered. */
export function clientUnknown(subject: string): Finding {
  return problem(
    subject,
    'the provider does not know the client identifier',
    `correct ${describeOption('clientId')}`,
  );
}
