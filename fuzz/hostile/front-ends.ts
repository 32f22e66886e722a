/** A front end of the relay under attack. */
interface FrontEndUnderAttack {
  readonly origin: string;
  readonly tokenDelivery: 'query' | 'fragment';
  /** Its redirect URIs, as they are registered. */
  readonly pages: readonly [string, ...string[]];
  readonly scope: readonly string[];
}

/** The front ends of the relay under attack, by name. */
export const frontEnds = {
  app: {
    origin: 'https://app.example',
    tokenDelivery: 'query',
    pages: ['https://app.example/signed-in?theme=dark', 'https://app.example/'],
    scope: ['read', 'write'],
  },
  shop: {
    origin: 'https://shop.example',
    tokenDelivery: 'fragment',
    pages: ['https://shop.example/in'],
    scope: ['read'],
  },
} as const satisfies Readonly<Record<string, FrontEndUnderAttack>>;

export type FrontEndName = keyof typeof frontEnds;

/** The redirect URIs of all front ends. */
export const allPages = [...frontEnds.app.pages, ...frontEnds.shop.pages] as const;

/** The front end that has a name. */
export function frontEndOf(name: string | undefined): FrontEndUnderAttack | undefined {
  return name !== undefined && Object.hasOwn(frontEnds, name)
    ? frontEnds[name as FrontEndName]
    : undefined;
}

/** The front ends as a configuration file has them. JSON is YAML. */
export function frontEndsFile(): string {
  const entries = Object.entries(frontEnds).map(([name, one]) => [
    name,
    {
      origin: one.origin,
      'token-delivery': one.tokenDelivery,
      'redirect-uris': one.pages,
      scope: one.scope,
    },
  ]);
  return JSON.stringify({ 'front-ends': Object.fromEntries(entries) });
}
