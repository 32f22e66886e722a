const evil = 'evil.example';
const own = 'app.example';

const schemes = [
  ...[`https://${evil}`, `http://${evil}`, `HtTpS://${evil}`, `//${evil}`, `///${evil}`],
  ...[`////${evil}`, `https:${evil}`, `https:/${evil}`, `https:///${evil}`, `https:////${evil}`],
  ...[`:${evil}`, `://${evil}`, `ftp://${evil}`, `ws://${evil}`, `file://${evil}/a`],
  ...[`intent://${evil}#Intent;scheme=https;end`, `blob:https://${evil}/a`],
  ...[`view-source:https://${evil}`, `feed:https://${evil}`, 'javascript:alert(1)'],
  ...['JaVaScRiPt:alert(1)', 'java\tscript:alert(1)', 'java\nscript:alert(1)'],
  ...['\u0001javascript:alert(1)', `javascript://${own}/%0aalert(1)`],
  'data:text/html,<script>alert(1)</script>',
  ...['data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==', 'vbscript:msgbox(1)'],
  ...['about:blank', 'mailto:a@evil.example'],
];

const userinfo = [
  ...[`https://${own}@${evil}`, `https://${own}:443@${evil}`, `https://${own}%40${evil}`],
  ...[`https://${own}%2f@${evil}`, `https://${own}%5c@${evil}`, `https://${evil}#@${own}`],
  ...[`https://${evil}?@${own}`, `https://${evil}/@${own}`, `https://${evil}\\@${own}`],
  ...[`https://${own}\\@${evil}`, `https://${own}#@${evil}`, `https://${own}?@${evil}`],
  ...[`https://${own};@${evil}`, `https://user:password@${own}:password@${evil}`],
  ...[`https://@@${evil}`, `https://:@${evil}`, `//${own}@${evil}`, `@${evil}`, `:80@${evil}`],
  `:password@${evil}`,
];

const suffixes = [
  ...[`.${evil}`, `-${evil}`, `/${evil}`, `?${evil}`, `#${evil}`, `;${evil}`, `:1234@${evil}`],
  ...[`https://${own}.${evil}`, `https://${evil}/${own}`, `https://${evil}?${own}`],
  ...[`https://${evil}#https://${own}/`, `https://${evil}&https://${own}`],
  ...[`https://${own}https://${evil}`, `https://${own},https://${evil}`],
  ...[`https://${own} https://${evil}`, `https://www.${own}.${evil}/`, `https://${own}:99999/`],
  `https://${own}:443:@${evil}`,
];

const backslashes = [
  ...[`\\${evil}`, `\\\\${evil}`, `/\\${evil}`, `\\/${evil}`, `/\\/${evil}`, `\\/\\/${evil}`],
  ...[`//\\${evil}`, `/\\\\${evil}`, `https:\\\\${evil}`, `https:\\${evil}`, `https:/\\${evil}`],
  ...[`/.\\${evil}`, `/..\\${evil}`, `.\\.\\${evil}`],
];

const paths = [
  ...[`/..//${evil}`, `/../${evil}`, `/.//${evil}`, `/%2e%2e//${evil}`, `/;//${evil}`],
  ...[`/;@${evil}`, `//${evil}/..`, `//${evil}/%2e%2e`, `//${evil}/%2f..`, `/${evil}/%2f%2e%2e`],
  ...[`./${evil}`, `../${evil}`, `?url=//${evil}`, `?next=https://${evil}`, '?access_token=stolen'],
  ...['&access_token=stolen', '#access_token=stolen', '&error=none&state=a'],
  ...['&redirect_uri=https://evil.example/', `&redirect_uri[]=https://${evil}`],
];

const controls = [...['\t', '\n', '\r', '\0', '\v', '\f', '\x01', '\x1b', '\x1f', '\x7f', ' ', '\x85', '\xa0']].flatMap(
  (control) => [
    ...[`${control}//${evil}`, `/${control}/${evil}`, `https:${control}//${evil}`],
    ...[`https://${control}${evil}`, `https://${own}${control}@${evil}`],
    `https://${own}${control}.${evil}`,
  ],
);

const unicode = [
  ...['\u3002', '\uff0e', '\uff61', '\u2024', '\ufe52'].map((dot) => `https://evil${dot}example`),
  ...['\uff0f', '\u2215', '\u2044', '\u29f8', '\u3033', '\u1735'].flatMap((slash) => [
    `${slash}${slash}${evil}`,
    `/${slash}${evil}`,
    `https:${slash}${slash}${evil}`,
    `https://${evil}${slash}.${own}`,
  ]),
  ...['\uff3c', '\ufe68', '\u2216', '\u29f5'].map((backslash) => `/${backslash}${evil}`),
  ...['\uff20', '\ufe6b'].map((at) => `https://${own}${at}${evil}`),
  ...['\uff1f', '\uff03', '\uff1a', '\ufe55', '\u2236', '\u037e'].map((mark) => `https://${evil}${mark}${own}`),
  ...[...['\u200b', '\u200d', '\u2060', '\u00ad', '\ufeff', '\u202e', '\u2066', '\u2028', '\u2029']].flatMap(
    (invisible) => [`${invisible}//${evil}`, `/${invisible}/${evil}`, `https://${own}${invisible}@${evil}`],
  ),
  ...['https://\uff45\uff56\uff49\uff4c.example', 'https://\u24d4\u24e5\u24d8\u24db.example'],
  ...['https://\u2100evil.example', 'https://app.ex\u0430mple', 'https://xn--80ak6aa92e.example'],
  ...['https://evil.example\u2100.app.example', '\ud800//evil.example', '\udfff'],
  '\u{1f511}//evil.example',
];

const injections = [
  `\r\nLocation: https://${evil}`,
  ...['\r\nSet-Cookie: a=b', '\nSet-Cookie: a=b', '\rSet-Cookie: a=b', '\n Set-Cookie: a=b'],
  ...['\r\n\tSet-Cookie: a=b', '\r\n\r\n<script>alert(1)</script>'],
  'a\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nb',
  ...['a\0\r\nX-Injected: 1', 'a\x85X-Injected: 1'],
  // Characters whose low bytes are CR and LF, for software that writes each as one byte.
  ...['\u010d\u010aSet-Cookie: a=b', '\u560d\u560aSet-Cookie: a=b', '\u560a\u560dSet-Cookie: a=b'],
  ...['\u000d\u000aX-Injected: 1', '\u2028Set-Cookie: a=b', '%E5%98%8D%E5%98%8ASet-Cookie: a=b'],
  ...['%0d%0aSet-Cookie: a=b', '%0D%0ASet-Cookie: a=b', '%0aSet-Cookie: a=b', '%0dSet-Cookie: a=b'],
  ...['%23%0d%0aSet-Cookie: a=b', '%3f%0d%0aLocation: //evil.example'],
  ...['%25%30%44%25%30%41Set-Cookie: a=b', '%u000d%u000aSet-Cookie: a=b', '\\r\\nSet-Cookie: a=b'],
  ...['&#13;&#10;Set-Cookie: a=b', '=?utf-8?q?=0D=0ASet-Cookie:_a=3Db?=', '"; a="b'],
  ...['><script>alert(1)</script>', "'><svg onload=alert(1)>"],
];

const otherEncodings = [
  ...['%2f%2fevil.example', '%2F%2Fevil.example', '%252f%252fevil.example'],
  ...['%25252f%25252fevil.example', '%5c%5cevil.example', '%5cevil.example', '/%5cevil.example'],
  ...['/%09/evil.example', '/%00/evil.example', '%c0%af%c0%afevil.example'],
  ...['%e0%80%af%e0%80%afevil.example', '%ef%bc%8f%ef%bc%8fevil.example'],
  ...['%u002f%u002fevil.example', '\\u002f\\u002fevil.example', '\\x2f\\x2fevil.example'],
  ...['&#x2f;&#x2f;evil.example', '&sol;&sol;evil.example', 'https%3a%2f%2fevil.example'],
  ...['https%253a%252f%252fevil.example', '%68%74%74%70%73://evil.example'],
  ...['aHR0cHM6Ly9ldmlsLmV4YW1wbGU=', 'https://2130706433/', 'https://0x7f.1/'],
  ...['https://[::ffff:7f00:1]/', 'https://127.0.0.1:1/'],
];

/** Payloads that have worked elsewhere: foreign addresses and headers. */
export const plainPayloads: readonly string[] = [
  ...['harmless', '', ...schemes, ...userinfo, ...suffixes, ...backslashes, ...paths],
  ...[...controls, ...unicode, ...injections, ...otherEncodings],
];

/** The same, plain and encoded, once and twice. */
export const redirectPayloads: readonly string[] = [
  ...new Set(
    plainPayloads.flatMap((payload) => {
      const once = encodeURIComponent(payload.toWellFormed());
      return [payload, once, encodeURIComponent(once)];
    }),
  ),
];
