import { getDomain } from 'tldts';

const options = { allowPrivateDomains: true, extractHostname: false };

/**
 * Domains below which anybody can have a name, although the public suffix list lacks them. Each line is a kind: IDEs
 * and sandboxes, tunnels, hosts of pages, DNS that answers any name, rented machines.
 */
const sharedDomains: ReadonlySet<string> = new Set(
  [
    'github.dev gitpod.io gitpod.dev codesandbox.io stackblitz.io staticblitz.com webcontainer.io webcontainer-api.io glitch.me cloudworkstations.dev cloudshell.dev coder.app daytona.work daytona.works goorm.io goorm.site killercoda.com play-with-docker.com paiza-user.cloud runpod.net litng.ai c9users.io vscode-cdn.net websandbox.app',
    'loca.lt localtunnel.me lhr.life lhr.rocks localhost.run lhrtunnel.link serveo.net serveousercontent.com pinggy.link pinggy.online pinggy.net pinggy-free.link zrok.io devtunnels.ms gradio.live tunnelto.dev bore.digital pagekite.me telebit.cloud pktriot.net loclx.io ply.gg playit.gg sharedwithexpose.com localcan.dev jprq.live jprq.io jprq.site cpolar.cn cpolar.io cpolar.top natappfree.cc loophole.site beeceptor.com webhook.site requestcatcher.com pipedream.net hookdeck.dev smee.io tunnel.pyjam.as tuns.sh tunwg.com instatunnel.my cloudpub.ru tuna.am portmap.io portmap.host exp.direct',
    'netlify.live modal.run modal.host kinsta.app sevalla.app sevalla.page koyeb.app fermyon.app edgeone.app begin.app cyclic.app genezio.app shuttle.app shuttleapp.rs tiiny.site stormkit.dev deta.dev deta.app pgs.sh neocities.org 000webhostapp.com b-cdn.net cdpn.io codepen.io plnkr.co shopifypreview.com w3s.link nftstorage.link arweave.net ar.io googleusercontent.com',
    'sslip.io nip.io xip.io traefik.me localtest.me lvh.me vcap.me lacolhost.com fuf.me lcl.host local.gd localdev.me backname.io localhost.direct local-ip.co local-ip.sh local-ip.medicmobile.org plex.direct ip.addr.tools 1u.ms rbndr.us ddev.site lando.site',
    'contaboserver.net vultrusercontent.com',
  ].flatMap((names) => names.split(' ')),
);

/**
 * Whether every name directly under a domain belongs to the domain's owner. Under a public suffix (`co.uk`,
 * `github.io`) and below a shared domain (`gitpod.io`), anybody can have a name.
 *
 * @param domain in lower case, with punycode
 * @see https://publicsuffix.org/list/
 */
export function ownsAllSubdomains(domain: string): boolean {
  if (parentsOf(domain).some((parent) => sharedDomains.has(parent))) return false;
  const owned = getDomain(domain, options);
  // A name below must have the same owner. Below some domains, such as kawasaki.jp, every name is a public suffix.
  return owned !== null && owned === getDomain(`any-name.${domain}`, options);
}

/** A name itself and all domains above it, the longest first. */
function parentsOf(hostname: string): readonly string[] {
  const labels = hostname.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

/**
 * Whether browsers treat two addresses as one site: same scheme, and same host or same owned domain.
 *
 * @see https://html.spec.whatwg.org/multipage/browsers.html#schemelessly-same-site
 */
export function isSameSite(left: URL, right: URL): boolean {
  if (left.protocol !== right.protocol) return false;
  const domain = registrableDomain(left);
  return left.hostname === right.hostname || (domain !== null && domain === registrableDomain(right));
}

/** The domain that somebody has registered. Null if the host is an IP address or a public suffix. */
function registrableDomain({ hostname }: URL): string | null {
  return getDomain(hostname, { allowPrivateDomains: true });
}

/**
 * Finds the end of a host name that tells its owner: `evil.example` in `accounts.google.com.evil.example`.
 *
 * @returns the whole name for an IP address, a public suffix, and a shared domain itself
 */
export function findOwnedPart(hostname: string): string {
  const parents = parentsOf(hostname);
  const registrable = getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
  const registrableIndex = parents.length - registrable.split('.').length;
  // Take the longer of two ends: the registrable domain, and a shared domain with the label before it. A smaller index
  // is a longer end.
  const sharedIndex = parents.findIndex((parent) => sharedDomains.has(parent));
  const startOfLonger = sharedIndex < 0 ? registrableIndex : Math.min(sharedIndex - 1, registrableIndex);
  return parents[Math.max(startOfLonger, 0)] ?? hostname;
}
