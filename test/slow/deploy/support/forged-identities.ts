import { type Header, identity } from './guarded-application.ts';

/** Whom the client claims to be. */
export const claim = 'mallory';

/** What a client may send to be taken for somebody else, or for nobody. */
export const forgeries: readonly (readonly Header[])[] = [
  ...identity.flatMap(([name]): Header[][] => [
    ...[
      ...[name, name.toLowerCase(), name.toUpperCase(), name.replace('-', '_')],
      ...[name.replaceAll('-', '_'), name.replaceAll('-', '_').toUpperCase()],
      ...[name.replaceAll('-', '.'), name.replaceAll('-', '|')],
    ].map((spelt): Header[] => [[spelt, claim]]),
    [
      [name, claim],
      [name.toLowerCase(), claim],
    ],
    [['Connection', `keep-alive, ${name.toLowerCase()}`]],
    [
      ['Connection', name],
      ['Connection', 'Authorization'],
      [name, claim],
    ],
  ]),
  ...[
    ...['Remote-User', 'Remote_User', 'REMOTE_USER', 'remote-groups'],
    ...['X-Remote-User', 'X_Remote_User', 'X-Webauth-User', 'X-Auth-User'],
    ...['X-Auth-Request-User', 'X-Auth-Request-Email', 'X-User', 'X-User-Id'],
    ...['X-Forwarded-Access-Token', 'X_Forwarded_Access_Token'],
  ].map((name): Header[] => [[name, claim]]),
];
