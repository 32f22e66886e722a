import type { Config } from '../config/config.ts';

/** The front end's page, with parameters where `--token-delivery` wants them. */
export function frontEndUrl(
  { frontendUrl, tokenDelivery }: Config,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(frontendUrl);
  const carrier = tokenDelivery === 'fragment' ? new URLSearchParams() : url.searchParams;
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) carrier.set(name, value);
  }
  if (tokenDelivery === 'fragment') url.hash = carrier.toString();
  return url.href;
}
