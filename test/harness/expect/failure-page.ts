import { hash } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../client/http-client.ts';

/**
 * A failure page of the relay, which loads and runs nothing.
 *
 * @returns its content; `links` are the addresses by their texts
 */
export function expectFailurePage(answer: Answer, status: number) {
  const text = answer.body.toString();
  const { headers } = answer;
  expectPage(answer, status);
  expect(headers.vary?.split(', ')).to.include.members(['Accept', 'Sec-Fetch-Mode']);
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? [];
  expect(headers['content-security-policy']).to.equal(
    "default-src 'none'; frame-ancestors 'none'; " +
      `style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'`,
  );
  expect(text).not.to.contain('<script');
  const links = [...text.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)];
  return {
    heading: unescaped(/<h1>([^<]*)<\/h1>/.exec(text)?.[1] ?? ''),
    detail: unescaped(/<p>([^<]*)<\/p>/.exec(text)?.[1] ?? ''),
    links: Object.fromEntries(links.map(([, href = '', words = '']) => [words, unescaped(href)])),
  };
}

/** A page of the relay, which loads nothing. */
export function expectPage({ status, headers, body }: Answer, expected: number): void {
  expect(status, `${body}`).to.equal(expected);
  expect(headers['content-type']).to.equal('text/html; charset=utf-8');
  expect(headers['content-length']).to.equal(`${body.length}`);
  expect(headers['cache-control']).to.equal('no-store, no-transform');
  expect(headers['referrer-policy']).to.equal('no-referrer');
  expect(headers['x-content-type-options']).to.equal('nosniff');
  expect(`${body}`).not.to.match(/<img|<link|<iframe|<form|<base|\bon\w+=|\bstyle=/i);
  expect(`${body}`).to.contain(`Request ID: ${headers['x-request-id']}<`);
}

function unescaped(text: string): string {
  const characters = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (entity) => String(characters[entity as keyof typeof characters]));
}
