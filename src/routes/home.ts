import { linkBack } from '../delivery/failure-page.ts';
import { html } from '../delivery/html.ts';
import { type Pages, setPageHeaders } from '../delivery/pages.ts';
import type { Handler } from '../http/context.ts';
import type { Readiness } from './health.ts';

/**
 * `GET /`: tells visitors of the relay's own host that a relay runs here. Programs get the same page, because a
 * balancer that probes `/` would take the host for dead if it got a 404.
 *
 * @param frontendUrl the page to link to; undefined if there are several
 */
export function home(pages: Pages, readiness: Readiness, frontendUrl: string | undefined): Handler {
  const link = linkBack({ frontendUrl, pages }, 'home_go');
  return (ctx) => {
    const isReady = readiness.reasons().length === 0;
    setPageHeaders(ctx, pages.policy());
    ctx.body = pages.render(
      'home_heading',
      html`<h1>${pages.text('home_heading')}</h1>
<p>${pages.text('home_about')} ${pages.text(isReady ? 'home_ready' : 'home_not_ready')}</p>
${link && html`<nav>${link}</nav>`}
${pages.whomToAsk}`,
    );
  };
}
