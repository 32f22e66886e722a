import { isShownToPerson, linkBack } from '../delivery/failure-page.ts';
import { html } from '../delivery/html.ts';
import type { Pages } from '../delivery/pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Handler } from '../http/context.ts';
import type { Readiness } from './health.ts';

/**
 * `GET /`: tells people who come to the login host that a relay runs here. Programs get 404.
 *
 * @param frontendUrl the page that people look for, if there is only one
 */
export function home(pages: Pages, readiness: Readiness, frontendUrl: string | undefined): Handler {
  const link = linkBack({ frontendUrl, pages }, 'home_go');
  return (ctx) => {
    if (!isShownToPerson(ctx)) throw new RelayError('not_found');
    const isReady = readiness.reasons().length === 0;
    ctx.set('Content-Security-Policy', pages.policy());
    ctx.body = pages.page(
      'home_heading',
      html`<h1>${pages.text('home_heading')}</h1>
<p>${pages.text('home_about')} ${pages.text(isReady ? 'home_ready' : 'home_not_ready')}</p>
${link && html`<nav>${link}</nav>`}
${pages.whomToAsk}`,
    );
    ctx.type = 'html';
  };
}
