import { type Answer, cookieHeader, HttpConnection, headers } from './http-connection.ts';
import { doorUrl } from './registration.ts';
import type { Target } from './workloads.ts';

const mostRedirects = 12;

/**
 * Logs in at the door of a resource as a browser does: follows every redirect, with the cookies of each host.
 *
 * @param navigation the header lines of a browser that opens a page
 * @returns the line of the `Cookie` header that opens the door
 * @throws if the redirects do not end, or do not end with a page
 */
export async function logInAtDoor({ port, providerPort }: Target, navigation: string): Promise<string> {
  const answers = new Map<string, Answer[]>();
  const home = new URL('/mcp/1', doorUrl);
  let url = home;
  for (let count = 0; count < mostRedirects; count += 1) {
    const ofHost = answers.get(url.host) ?? [];
    answers.set(url.host, ofHost);
    const isAtProvider = url.port === String(providerPort);
    const connection = await HttpConnection.open(isAtProvider ? providerPort : port, url.host);
    const sent = `Accept: text/html\r\n${navigation}${cookieHeader(ofHost)}`;
    const answer = await connection.send('GET', url.pathname + url.search, sent);
    connection.close();
    ofHost.push(answer);
    const [location] = headers(answer.head, 'location');
    if (answer.status < 300) return cookieHeader(answers.get(home.host) ?? []);
    if (location === undefined) throw new Error(`the login at the door ends with:\n${answer.head}\n${answer.body}`);
    url = new URL(location, url);
  }
  throw new Error(`the login at the door does not end: ${url}`);
}
