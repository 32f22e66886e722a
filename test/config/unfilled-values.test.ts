import { expect } from 'chai';
import { faults, faultsOfFile, minimal, onlyFault, read } from './support/read.ts';

/** A variable, as shells and templates write it. */
const variable = (name: string) => `$\{${name}}`;

const unfilled = [
  [variable('CLIENT_ID'), 'variable'],
  ['$CLIENT_ID', 'variable'],
  ['{{ client_id }}', 'template'],
  ['<client-id>', 'placeholder'],
  ['YOUR-CLIENT-ID', 'placeholder'],
  ['YOUR_CLIENT_ID', 'placeholder'],
  ['"Iv1.0123"', 'quotes'],
  ["'Iv1.0123'", 'quotes'],
] as const;
const honest = [
  'pa$$word-0123456789',
  'abc$NAME',
  '$2b$10$N9qo8uLOickgx2ZMRZoMye',
  "it's-a-secret",
  'a<b>c',
  'YOURCOMPANY-app',
  '$client',
  '$5',
  '{client}',
  'your-client',
  '<a><b>',
  '"a',
  "'",
];
/** Passwords of a generator. In one of 3,000, the first and the last character are the same quote. */
const randomSecrets = [`'3$k}Wq7!zL)mR9@x'`, '"v8#Tn^2&pQ;j5Hd?"', '`a]9K%s(4*Yb|6uE`', '<g7!Xw$2pM&k9Rz>'];
const file = (entry: string) => `
providers: { github: { ${entry} } }
front-ends: { app: { origin: https://app.example.com } }
`;

describe('a value that nobody has filled in', () => {
  for (const [text, what] of unfilled) {
    it(`is a fault of a flag, a variable and a file: ${text}`, () => {
      for (const name of ['clientId', 'clientSecret'] as const) {
        const { PROVIDER_CLIENT_SECRET: secret, ...others } = minimal;
        const environment = name === 'clientSecret' ? others : minimal;
        expect(onlyFault({ environment, flags: { [name]: text } })).to.include(what);
        const option = name === 'clientId' ? 'PROVIDER_CLIENT_ID' : 'PROVIDER_CLIENT_SECRET';
        expect(onlyFault({ environment: { ...minimal, [option]: text } })).to.include(what);
      }
      const quoted = JSON.stringify(text);
      const inFile = faultsOfFile(file(`client-id: ${quoted}, client-secret: ${quoted}`));
      expect(inFile, inFile.join('\n')).to.have.lengthOf(2);
      for (const fault of inFile) expect(fault).to.include(what);
    });

    it(`is a fault in a file with a secret: ${text}`, () => {
      const { PROVIDER_CLIENT_SECRET: secret, ...environment } = minimal;
      const given = { environment: { ...environment, PROVIDER_CLIENT_SECRET_FILE: '/f' } };
      const fault = onlyFault({ ...given, files: { '/f': { text: `${text}\n` } } });
      expect(fault).to.include(what).and.not.include(text);
    });
  }

  it('is a fault in the middle of what is no secret', () => {
    for (const url of [`https://${variable('HOST')}/`, 'https://{{ host }}/', 'https://YOUR-HOST.example/']) {
      expect(onlyFault({ environment: { ...minimal, BASE_URL: url } }), url).to.match(/in it/);
    }
  });

  for (const text of honest) {
    it(`is not: ${text}`, () => {
      const environment = { ...minimal, PROVIDER_CLIENT_ID: text, PROVIDER_CLIENT_SECRET: text };
      expect(faults({ environment })).to.deep.equal([]);
      const quoted = JSON.stringify(text);
      expect(faultsOfFile(file(`client-id: ${quoted}, client-secret: ${quoted}`))).to.deep.equal([]);
    });
  }

  for (const secret of randomSecrets) {
    it(`is not a random secret between signs that are a part of it: ${secret}`, () => {
      expect(faults({ environment: { ...minimal, PROVIDER_CLIENT_SECRET: secret } })).to.deep.equal([]);
      const { PROVIDER_CLIENT_SECRET: _, ...environment } = minimal;
      const given = { environment: { ...environment, PROVIDER_CLIENT_SECRET_FILE: '/f' } };
      expect(faults({ ...given, files: { '/f': { text: `${secret}\n` } } })).to.deep.equal([]);
      expect(onlyFault({ environment: { ...minimal, PROVIDER_CLIENT_ID: secret } })).to.match(/quotes|placeholder/);
    });
  }

  it('is a secret of usual characters between quotes', () => {
    for (const secret of ['""', '"GOCSPX-a_b.c~d"', "'aGVsbG8+d29ybGQ/Zm9v=='", '`x1Y2z3`', '<client secret>']) {
      const environment = { ...minimal, PROVIDER_CLIENT_SECRET: secret };
      expect(onlyFault({ environment }), secret).to.match(/quotes|placeholder/);
    }
  });

  it('is not in texts for people, patterns of origins, bodies, or headers in quotes', () => {
    const text = `
providers:
  github:
    client-id: a
    client-secret: 'pass\${word}'
front-ends: { app: { origin: 'https://*.example.com', token-delivery: code } }
pages: { name: '<Acme>', texts: { failure.title: '"Sorry"' } }
`;
    expect(faultsOfFile(text)).to.deep.equal([]);
  });
});

describe('--base-url', () => {
  for (const url of ['https://a.example.com,https://b.example.com', 'https://*.example.com', 'https://a,b/']) {
    it(`names one host: ${url} does not`, () => {
      expect(onlyFault({ environment: { ...minimal, BASE_URL: url } })).to.match(/host/);
    });
  }

  it('may have a comma or a * in its path', () => {
    expect(read({ environment: { ...minimal, BASE_URL: 'https://a.example.com/b,*' } }).config.baseUrl).to.include(
      'b,*',
    );
  });
});
