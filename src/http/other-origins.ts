import type { Middleware } from 'koa';

/** Reports the `Origin` of each request that does not come from a front end. */
export function reportForeignOrigin(
  isFrontEnd: (origin: string) => boolean,
  report: (origin: string) => void,
): Middleware {
  return (ctx, next) => {
    const { origin } = ctx.req.headers;
    if (origin !== undefined && !isFrontEnd(origin)) report(origin);
    return next();
  };
}

/** What browsers have as the host of an address: a name or an IP address, with a port if it has one. */
const hostForm = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/;

/**
 * Reports logins that are started under another host name than the base URL's, such as 127.0.0.1 for
 * localhost. The browser keeps the cookie of such a login for that name, so the callback, which comes
 * to the base URL, arrives without it. Another port is no problem: ports share their cookies.
 *
 * @param report gets the host from the request, which anybody can make up; never more than 259
 *   characters of a host name or IP address and a port
 * @see RFC 6265 §8.5
 */
export function reportOtherHost(baseUrl: string, report: (host: string) => void): Middleware {
  const base = new URL(baseUrl);
  return (ctx, next) => {
    const { host } = ctx.req.headers;
    if (host !== undefined && host !== base.host) {
      const asked = URL.parse(`${base.protocol}//${host}`);
      const isOther = asked !== null && asked.hostname !== base.hostname;
      if (isOther && hostForm.test(asked.host)) report(asked.host);
    }
    return next();
  };
}
