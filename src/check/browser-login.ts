import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { createDoorLogins } from '../browsers/door-logins.ts';
import type { ResourceConfig } from '../config/config.ts';
import type { RequestState } from '../http/context.ts';
import { idPrefixForm } from '../login/cookies.ts';
import { doorPaths, doorStartPath, ownPrefix, pathOfAnswer, pathOfCheck } from '../paths.ts';
import { resourceMetadataUrl } from '../routes/resource-metadata.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { httpGet, isNotFoundByRelay, redirectTarget } from './answer.ts';
import type { CheckContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import type { Unreached } from './unreached.ts';

/** A path for whose login the relay sets several cookies. Some proxies pass only the last of several cookies. */
const longPath = '/login-relay-check'.padEnd(900, '-');

/** The headers of a browser that opens a page. */
const navigationHeaders = {
  accept: 'text/html',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

const applicationMayBeReachable = findingsOn('application').notChecked(
  'whether others reach it past its proxy is not known',
  'let only the proxy reach it: to anybody else, it believes what they say who they are. ' +
    'If its port is 9000, `ss -ltn` on its machine must show 127.0.0.1:9000, and not 0.0.0.0:9000 or *:9000',
);

/**
 * Opens a resource as a browser without a login does. It checks that the relay's own paths arrive there, and that the
 * proxy of the resource sends browsers to the login with all cookies.
 */
export async function checkBrowserLogin(context: CheckContext, resource: ResourceConfig): Promise<Finding[]> {
  const urlOf = (path: string) => new URL(path, resource.url).href;
  const [user, logout, page] = await Promise.all([
    httpGet(context, urlOf(doorPaths.user)),
    httpGet(context, urlOf(doorPaths.logout)),
    httpGet(context, urlOf(longPath), navigationHeaders),
  ]);
  const ofPaths = judgePaths(context, resource, user, logout);
  const ofPage =
    'fix' in page
      ? findingsOn('login of browsers').warning(page.message, page.fix)
      : judgePage(context, resource, page);
  // For a resource with an upstream, `checkUpstream` says whether others can reach it.
  return resource.upstream ? [ofPaths, ofPage] : [ofPaths, ofPage, applicationMayBeReachable];
}

/**
 * Judges the answers at the paths of the relay at the host of a resource. Without a cookie, the relay answers 401 at
 * the path that says who is logged in. A proxy that asks the check about these paths gets 401 there as well, but gets
 * no logout page.
 */
function judgePaths(
  { config }: CheckContext,
  resource: ResourceConfig,
  user: UpstreamResponse | Unreached,
  logout: UpstreamResponse | Unreached,
): Finding {
  const { ok, problem, warning } = findingsOn('paths of the relay');
  if ('fix' in user) return warning(user.message, user.fix);
  if ('fix' in logout) return warning(logout.message, logout.fix);
  const { host } = new URL(resource.url);
  const pass = `let its proxy pass all below ${ownPrefix} to ${config.baseUrl}, with Host: ${host}, and without the check`;
  if (isNotFoundByRelay(user)) {
    const message = `a relay answers below ${ownPrefix}, but does not know ${host}`;
    return problem(message, `${pass}; or restart that relay`);
  }
  if (!hasChallenge(user, resource)) {
    return problem(`${doorPaths.user} does not lead to the relay (status ${user.status}), so no login can end`, pass);
  }
  return logout.status === 200
    ? ok('arrive at the relay')
    : problem(`the proxy asks the check about ${ownPrefix} (status ${logout.status}), so no login can end`, pass);
}

/** Whether an answer has the challenge by which the relay asks programs for a token. */
const hasChallenge = ({ status, headers }: UpstreamResponse, resource: ResourceConfig) =>
  status === 401 &&
  headers['www-authenticate']?.includes(`resource_metadata="${resourceMetadataUrl(resource)}"`) === true;

/** Judges the answer to a browser that opens a page without a login. It must be sent to the login. */
function judgePage({ config }: CheckContext, resource: ResourceConfig, answer: UpstreamResponse): Finding {
  const { problem, warning } = findingsOn('login of browsers');
  const { status } = answer;
  const askFirst = resource.upstream
    ? `let its proxy pass each request to ${config.baseUrl}, with Host: ${new URL(resource.url).host}`
    : `let its proxy ask ${config.baseUrl}${pathOfCheck(resource.name)} before each request`;
  const target = redirectTarget(answer, resource.url);
  if (target !== undefined) {
    const start = expectedStart(config, resource);
    // The query is not shown, because the state in it starts a login.
    const where = target === null ? 'nowhere' : (target.origin + target.pathname).slice(0, 300);
    if (where === start && target?.searchParams.has('state')) return judgeCookies(resource, answer);
    const fix = `${askFirst}; if ${where} is at the login of this relay, restart the relay that answers`;
    return problem(`a browser that has not logged in is sent to ${where}, and not to ${start}`, fix);
  }
  if (isNotFoundByRelay(answer)) {
    const compare = `compare the name at the end of that path (this configuration has ${listNames(config.resources)})`;
    const fix = resource.upstream ? askFirst : `${askFirst}, and ${compare}`;
    return problem('a relay answers, but does not open it to browsers', fix);
  }
  if (hasChallenge(answer, resource)) {
    const names = 'Accept, Sec-Fetch-Mode and Sec-Fetch-Dest';
    const fix = `let its proxy pass ${names} to the relay; or restart the relay that answers`;
    return problem('a browser that opens a page gets 401 as a program does, and no login', fix);
  }
  const known = resource.upstream ? undefined : faultsByStatus[status];
  if (known !== undefined) {
    const [message, fix] = known;
    return problem(message, fix.replace('<answer>', config.baseUrl + pathOfAnswer(resource.name)));
  }
  if (status >= 500) return warning(`does not work now (status ${status})`, 'look at the log of the proxy');
  return isAnswerOfApplication(status)
    ? problem(`the application is open: it answers without a login (status ${status})`, askFirst)
    : problem(`a browser that has not logged in gets no login (status ${status})`, askFirst);
}

/** Lists the first names of entries. */
function listNames(entries: readonly { readonly name: string }[]): string {
  const most = 10;
  const names = entries.slice(0, most).map(({ name }) => name);
  return `${names.join(', ')}${entries.length > most ? ', …' : ''}`;
}

/** The URL that starts the login of a browser; with several providers, the URL of the choice between them. */
function expectedStart(
  { baseUrl }: Pick<CheckContext['config'], 'baseUrl'>,
  { name, url, registrations }: ResourceConfig,
): string {
  const [first = '', second] = registrations;
  return second === undefined ? baseUrl + doorStartPath(first, name) : new URL(doorPaths.choose, url).href;
}

/**
 * Explanations and fixes by the status with which a proxy that asks the check answers a browser. `<answer>` stands for
 * the URL of `pathOfAnswer`.
 */
const faultsByStatus: Readonly<Record<number, readonly [message: string, fix: string]>> = {
  400: [
    'the check does not learn what the browser asks for (status 400)',
    'let its proxy send X-Forwarded-Method and X-Forwarded-Uri with the check, once each, and name it in trusted-proxies',
  ],
  500: [
    'the proxy does not pass the redirect of the check (status 500)',
    'nginx: error_page 401 403 500 leads to a location that passes the request to <answer>',
  ],
};

/** Whether the application itself, and not a proxy, may answer with this status. */
const isAnswerOfApplication = (status: number) => status < 300 || status === 404 || status === 405;

/** Judges whether all cookies of a login have arrived, because without them the login cannot end. */
function judgeCookies(resource: ResourceConfig, { headers }: UpstreamResponse): Finding {
  const { ok, problem } = findingsOn('login of browsers');
  const sent = comparableCookies(makeLoginCookies(resource));
  const arrived = comparableCookies(headers['set-cookie'] ?? []);
  const missing = sent.filter((cookie) => !arrived.includes(cookie));
  if (missing.length === 0) return ok('starts, and all of its cookies arrive');
  return problem(
    `of ${sent.length} cookies of a login, ${missing.length} did not arrive as they were sent`,
    'let its proxy pass each Set-Cookie of the relay to the browser, unchanged',
  );
}

const idAtEnd = new RegExp(`_${idPrefixForm}$`);

/** Reduces cookies to what two logins at the same path share: the name without its id, and the sorted attributes. */
const comparableCookies = (cookies: readonly string[]) =>
  cookies.map((cookie) => {
    const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim());
    const name = pair.replace(/=.*/, '').replace(idAtEnd, '_');
    return [name, ...attributes.map((attribute) => attribute.toLowerCase()).sort()].join('; ');
  });

/**
 * Makes the Set-Cookie lines that the relay sends for a login that returns to `longPath`. The key is random, because
 * only names and attributes are compared.
 */
function makeLoginCookies({ url }: ResourceConfig): string[] {
  const request = new IncomingMessage(new Socket());
  const ctx = new Koa<RequestState>().createContext(request, new ServerResponse(request));
  createDoorLogins([randomBytes(32)], { url }, Date.now).begin(ctx, { wayBack: longPath });
  return [ctx.response.get('Set-Cookie')].flat();
}
