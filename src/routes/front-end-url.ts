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
  const url =
    tokenDelivery === 'query'
      ? withParameters(frontendUrl, given)
      : `${frontendUrl}#${new URLSearchParams(given)}`;
  // Pages that decode with decodeURIComponent would take "+" for a plus sign.
  return frontendUrl + url.slice(frontendUrl.length).replaceAll('+', '%20');
}
