import type { Config } from '../config/config.ts';
import { withParameters } from '../oauth/query.ts';

/** The front end's page, with parameters where `--token-delivery` wants them. */
export function frontEndUrl(
  { frontendUrl, tokenDelivery }: Config,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.fromEntries(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  if (tokenDelivery === 'query') return withParameters(frontendUrl, given);
  return `${frontendUrl}#${new URLSearchParams(given)}`;
}
