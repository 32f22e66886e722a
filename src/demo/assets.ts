import { readFileSync } from 'node:fs';

/** The demo's files that are not code of the relay: its front end. */
export const assets = {
  /** The HTML of every page. */
  page: readFileSync(new URL('./front-end/index.html', import.meta.url), 'utf8'),
  /** Its files, by name. */
  files: {
    'style.css': readFileSync(new URL('./front-end/style.css', import.meta.url), 'utf8'),
    'page.js': readFileSync(new URL('./front-end/page.js', import.meta.url), 'utf8'),
    'steps.js': readFileSync(new URL('./front-end/steps.js', import.meta.url), 'utf8'),
    'with-client.js': readFileSync(new URL('./front-end/with-client.js', import.meta.url), 'utf8'),
    'user-of-token.js': readFileSync(
      new URL('./front-end/user-of-token.js', import.meta.url),
      'utf8',
    ),
    'oauth.js': readFileSync(new URL('./front-end/oauth.js', import.meta.url), 'utf8'),
    'session.js': readFileSync(new URL('./front-end/session.js', import.meta.url), 'utf8'),
    'contract.js': readFileSync(new URL('./front-end/contract.js', import.meta.url), 'utf8'),
    'cms.js': readFileSync(new URL('./front-end/cms.js', import.meta.url), 'utf8'),
  },
} as const;
