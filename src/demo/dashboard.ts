import type { RequestListener } from 'node:http';
import { html, pagePolicy, renderHtmlPage } from '../delivery/html.ts';
import { securityHeaders } from '../http/response-headers.ts';
import { doorPaths } from '../paths.ts';

const pageHeaders = {
  ...securityHeaders,
  'Content-Security-Policy': pagePolicy(),
  'Content-Type': 'text/html; charset=utf-8',
};

/** Creates a dashboard without code for logins. The relay stands in front of it, and says in each request who sends it. */
export function createDashboard(frontEndUrl: string): RequestListener {
  return ({ headers, url }, response) => {
    if (url !== '/') {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n');
      return;
    }
    // The relay percent-encodes the values of these headers.
    const name = decodeURIComponent(`${headers['x-forwarded-preferred-username']}`);
    const main = html`<h1>The dashboard of ${name}</h1>
<p>This page has no code for logins. You have logged in before your browser reached it, and the relay says in each request who
you are:</p>
<dl>
<dt>X-Forwarded-User</dt><dd>${headers['x-forwarded-user']?.toString()}</dd>
<dt>X-Forwarded-Preferred-Username</dt><dd>${name}</dd>
</dl>
<nav><a href="${doorPaths.logout}">Log out</a><a href="${frontEndUrl}">Back to the demo</a></nav>
<small>How to do this with your own dashboard or wiki: docs/dashboard.md</small>`;
    response.writeHead(200, pageHeaders).end(renderHtmlPage('A dashboard behind the login', main));
  };
}
