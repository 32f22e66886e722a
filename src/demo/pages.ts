/** A page of the demo, which shows one way to get a token. */
export interface DemoPage {
  readonly name: string;
  readonly path: string;
  /** The kind of front end that it suits, in plain words. */
  readonly title: string;
  readonly lead: string;
  /** The requests of a login to the relay, in order. */
  readonly requests: readonly string[];
  /** The document that says how to do this in another page. */
  readonly guide: string;
  /** The script of its page, in `front-end/`. */
  readonly script: 'oauth.js' | 'session.js' | 'notes.js' | 'anyone.js' | 'contract.js' | 'cms.js';
  /** The settings of its front end in the configuration file, besides origin and page. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const start = 'GET /auth/provider';
const callback = `${start}/callback`;
const user = 'GET /api/user';
const token = 'POST /auth/provider/token';
const requestsOfSession = [start, callback, 'GET /auth/session', user];

/** The pages of the demo, in the order of the links to them. */
export const demoPages = {
  oauth: {
    name: 'oauth',
    path: '/',
    title: 'Any page',
    lead: 'The page gets a code, and trades it for the token. No token is ever in an address. Use the relay’s client or any OAuth library.',
    requests: [start, callback, token, user],
    guide: 'docs/front-end.md#log-in-with-the-client',
    script: 'oauth.js',
    settings: { 'token-delivery': 'code' },
  },
  session: {
    name: 'session',
    path: '/session',
    title: 'The relay’s own site',
    lead: 'The relay keeps the token in a cookie that no script can read. The page never has one.',
    requests: requestsOfSession,
    guide: 'docs/front-end.md#sessions',
    script: 'session.js',
    settings: { 'token-delivery': 'session' },
  },
  members: {
    name: 'members',
    path: '/members',
    title: 'Members only',
    lead: 'Only Ada may log in here. Log in with another name to see what a refused person reads.',
    requests: requestsOfSession,
    guide: 'docs/access.md#what-happens',
    script: 'session.js',
    settings: { 'token-delivery': 'session', 'error-delivery': 'page', allow: { users: ['ada'] } },
  },
  notes: {
    name: 'notes',
    path: '/notes',
    title: 'Your own API',
    lead: 'The page gets a token of the relay. It opens your own API and nothing else, and the API is told who you are.',
    requests: [start, callback, token, 'GET /auth/check/notes'],
    guide: 'docs/front-end.md#your-own-api',
    script: 'notes.js',
    settings: { 'token-delivery': 'code', resources: ['notes'] },
  },
  contract: {
    name: 'contract',
    path: '/contract',
    title: 'A page without a library',
    lead: 'The relay returns the token in the address of the page. This is the plain way.',
    requests: [start, callback, user],
    guide: 'docs/front-end.md#the-plain-way',
    script: 'contract.js',
    settings: { 'error-delivery': 'page' },
  },
  cms: {
    name: 'cms',
    path: '/cms',
    title: 'A CMS',
    lead: 'A popup hands the token to the page. Decap CMS and Sveltia CMS log in this way, unchanged.',
    requests: [`${start}/cms`, callback, user],
    guide: 'docs/cms.md',
    script: 'cms.js',
    settings: { 'token-delivery': 'cms' },
  },
  anyone: {
    name: 'anyone',
    path: '/anyone',
    title: 'Command lines and MCP',
    lead: 'This page is no front end of the relay. It registers itself, and the relay asks you first. Command lines and MCP clients log in this way.',
    requests: ['POST /auth/provider/register', start, 'POST /auth/provider/consent', callback, token, user],
    guide: 'docs/clients.md#unregistered-programs',
    script: 'anyone.js',
    settings: { kind: 'native', clients: { registration: true } },
  },
} as const satisfies Record<string, DemoPage>;

/** The settings of a page's front end, as in a configuration file. */
export function frontEndSettings({ path, settings }: DemoPage, origin: string): DemoPage['settings'] {
  if ('kind' in settings) return settings;
  return { origin, ...(path !== '/' && { 'frontend-url': origin + path }), ...settings };
}
