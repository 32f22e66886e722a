import { randomBytes } from 'node:crypto';
import type { DemoFrontEnd, DemoSetup } from './configuration.ts';
import { deliveries, frontEndOf } from './deliveries.ts';
import type { Page } from './front-end.ts';
import type { OpenPort } from './open-port.ts';
import type { DemoPorts } from './open-ports.ts';
import type { OwnPage } from './own-page.ts';

/** A provider of the demo. */
interface SiteOfProvider {
  /** Its name in the relay's paths. */
  readonly name: string;
  /** The heading of its pages. */
  readonly brand: string;
  readonly port: OpenPort;
  /** Where its pages lead back to. */
  readonly homeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** CMSes log in only at the presets that they have a backend for. */
  readonly preset?: 'github';
}

/** A front end of the demo: a site with a page for each of its deliveries. */
interface SiteOfFrontEnd {
  readonly port: OpenPort;
  readonly pages: readonly Page[];
  /** The provider that its pages use. */
  readonly provider: SiteOfProvider;
}

/** The servers of the demo besides its relay. */
interface Sites {
  readonly providers: readonly SiteOfProvider[];
  readonly frontEnds: readonly [SiteOfFrontEnd, ...SiteOfFrontEnd[]];
}

/** Distributes the ports among the providers and the front ends. */
export function sitesOf({ provider, frontEnd, second }: DemoPorts): Sites {
  // The name that the documents use in paths: `/auth/provider`.
  const first: SiteOfProvider = {
    ...providerAt(provider, 'provider', 'Demo provider', frontEnd),
    preset: 'github',
  };
  const pages = Object.values(deliveries).map((delivery) => ({
    delivery,
    clientId: delivery.name,
  }));
  const site = { port: frontEnd, pages, provider: first };
  if (second === undefined) return { providers: [first], frontEnds: [site] };
  const staff = providerAt(second.provider, 'staff', 'Staff provider', second.frontEnd);
  const intranet = [{ delivery: deliveries.oauth, clientId: 'intranet' }];
  return {
    providers: [first, staff],
    frontEnds: [site, { port: second.frontEnd, pages: intranet, provider: staff }],
  };
}

function providerAt(port: OpenPort, name: string, brand: string, home: OpenPort): SiteOfProvider {
  const clientSecret = randomBytes(32).toString('base64url');
  return { name, brand, port, homeUrl: home.url, clientId: 'login-relay-demo', clientSecret };
}

/** What the demo's relay is configured with. */
export function setupOf(relay: OpenPort, sites: Sites, own: OwnPage | undefined): DemoSetup {
  const [site, intranet] = sites.frontEnds;
  const { contract, ...others } = deliveries;
  const shown = [contract, ...Object.values(others)];
  // A login that names no front end, as in the contract, belongs to the first one of these that can do so.
  const frontEnds: Record<string, DemoFrontEnd> = {
    ...(own && { app: settingsOf(own) }),
    ...Object.fromEntries(shown.map((one) => [one.name, frontEndOf(one, site.port.url)])),
    ...(intranet && {
      cms: withOnly(site.provider, frontEndOf(deliveries.cms, site.port.url)),
      intranet: withOnly(intranet.provider, frontEndOf(deliveries.oauth, intranet.port.url)),
    }),
  };
  const registrations = sites.providers.map(({ port: { url, port }, ...provider }) => ({
    ...provider,
    url,
    port,
  }));
  return { relay, registrations, frontEnds };
}

function withOnly({ name }: SiteOfProvider, frontEnd: DemoFrontEnd): DemoFrontEnd {
  return { ...frontEnd, providers: [name] };
}

function settingsOf({ origin, tokenDelivery }: OwnPage): DemoFrontEnd {
  const settings = { origin, 'token-delivery': tokenDelivery };
  return tokenDelivery === 'session' ? settings : { ...settings, 'error-delivery': 'page' };
}
