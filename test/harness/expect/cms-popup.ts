import { hash } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../client/http-client.ts';
import { expectPage } from './failure-page.ts';

/**
 * The page in the popup of a CMS, which runs its own script and nothing else.
 *
 * @returns what it posts, and to which origins
 */
export function expectCmsPopup(answer: Answer, status: number) {
  const text = answer.body.toString();
  const { headers } = answer;
  expectPage(answer, status);
  expect(headers, 'it would separate the windows').not.to.have.property('cross-origin-opener-policy');
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? [];
  const [, script = ''] = /<script data-cfasync="false">([^<]*)<\/script>/.exec(text) ?? [];
  expect(headers['content-security-policy']).to.equal(
    `default-src 'none'; frame-ancestors 'none'; style-src ${source(style)}; script-src ${source(script)}; base-uri 'none'; form-action 'none'`,
  );
  const elements = [...text.matchAll(/<script[^>]*>/g)].map(([element]) => element);
  expect(elements).to.deep.equal(['<script type="application/json" id="messages">', '<script data-cfasync="false">']);
  const [, json = ''] = /id="messages">([^<]*)<\/script>/.exec(text) ?? [];
  expect(json, 'characters that HTML or a script knows').to.match(/^[\x20-\x25\x27-\x3b=\x3f-\x7e]+$/);
  const messages = Object(JSON.parse(json));
  expect(messages).to.have.all.keys('origins', 'patterns', 'greeting', 'result');
  const { origins, patterns, greeting, result } = messages;
  return { origin: `${[origins, patterns].flat()}`, greeting: `${greeting}`, result: `${result}` };
}

/** The content of a result: what the CMS gets. */
export function resultOf({ result }: { readonly result: string }, backend: string, outcome: string): unknown {
  // As Decap CMS reads it.
  const [, json = ''] = new RegExp(`^authorization:${backend}:${outcome}:(.+)$`).exec(result) ?? [];
  expect(json, result).not.to.equal('');
  return JSON.parse(json);
}

function source(text: string): string {
  expect(text).not.to.equal('');
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}
