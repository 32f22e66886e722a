import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { expectUser } from '../harness/expect/expectations.ts';
import { answer } from '../harness/provider/provider-behaviours.ts';
import type { Behaviour } from '../harness/provider/strict-provider.ts';
import { relayUnderTest } from '../harness/relay/relay-under-test.ts';

/** Texts that change if a JSON parser reads and writes them. */
const records: Record<string, string> = {
  'a number beyond 2^53': '{"id":9007199254740993}',
  'a number beyond a double': '{"big":1e400,"small":1e-400,"minus":-0,"precise":1.0}',
  'duplicate keys': '{"a":1,"a":2,"login":"x","a":3}',
  escapes: '{"login":"\\u0061\\u00e9\\ud83d\\ude00\\/","lone":"\\ud800","nul":"\\u0000"}',
  'text beyond ASCII': '{"name":"Zoë 登录 🔑","\u2028":"\u2029"}',
  'keys in an unusual order': '{"z":1,"10":2,"9":3,"a":4,"__proto__":{"b":5}}',
  'white space': ' \r\n\t{ "login" :\t"a" }\n\n',
  'no fields': '{}',
  'everything at once': '{ "id" : 9007199254740993 , "x":1e400, "a":1,"a":2, "u":"\\u0041", "n":"é登🔑" }\n',
};

/** Answers with a record that is encoded like this. */
const encoded = (encoding: string, body: Buffer) =>
  answer(200, body, { 'Content-Type': 'application/json', 'Content-Encoding': encoding });

describe("the provider's record", () => {
  const underTest = relayUnderTest();

  async function expectSameBytes(record: Buffer, behaviour: Behaviour): Promise<void> {
    underTest().provider.onUser = behaviour;
    const answered = await underTest().lookUp();
    expectUser(answered);
    expect(answered.body.equals(record), answered.body.toString()).to.equal(true);
    expect(answered.headers).not.to.have.property('content-encoding');
  }

  for (const [name, record] of Object.entries(records)) {
    it(`with ${name} passes through byte for byte`, async () => {
      const bytes = Buffer.from(record);
      await expectSameBytes(bytes, answer(200, bytes));
    });
  }

  const everything = Buffer.from(records['everything at once'] ?? '');
  const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  for (const [encoding, compress] of Object.entries(encodings)) {
    it(`passes through byte for byte if the provider encodes it with ${encoding}`, async () => {
      await expectSameBytes(everything, encoded(encoding, compress(everything)));
    });
  }

  it('passes through byte for byte if its chunks split characters', async () => {
    await expectSameBytes(everything, (response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      for (const byte of everything) response.write(Buffer.of(byte));
      response.end();
    });
  });

  it('passes through byte for byte at the size limit of 1 MiB', async () => {
    const head = '{"login":"';
    const padding = 'é'.repeat((1024 * 1024 - head.length - 2) / 2);
    const record = Buffer.from(`${head}${padding}"}`);
    expect(record.length).to.equal(1024 * 1024);
    await expectSameBytes(record, answer(200, record));
    await expectSameBytes(record, encoded('gzip', gzipSync(record)));
  });
});
