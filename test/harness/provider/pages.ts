import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** A received request for a page. */
export interface PageRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly query: URLSearchParams;
  /** The body, if it is a form. */
  readonly form: URLSearchParams;
}

/** Answers a request for a page. */
export type Page = (response: ServerResponse, request: PageRequest) => void;

/**
 * Pages by method and path (`GET /user`), by path and query, or by path; `*` is every other page. A page
 * at the path of an endpoint replaces it.
 */
export type Pages = Readonly<Record<string, Page>>;

/** The request, once its body has arrived. */
export function pageRequest(message: IncomingMessage, body: string): PageRequest {
  const { method = '', url: target = '', headers } = message;
  const url = URL.parse(target, `http://${headers.host}`) ?? new URL('http://provider.invalid');
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
  const form = new URLSearchParams(isForm ? body : '');
  return { method, url, headers, body, query: url.searchParams, form };
}

/** The requested page, if it exists. */
export function pageFor({ method, url }: PageRequest, pages: Pages): Page | undefined {
  const { pathname, search } = url;
  const names = [`${method} ${pathname}`, pathname + search, pathname, '*'];
  return names.map((name) => pages[name]).find((page) => page !== undefined);
}
