import assert from 'node:assert/strict';
import { RelayError } from '../../src/errors.ts';
import { hasRelayCookie } from '../../src/http/cookies.ts';
import { createLoginCookies } from '../../src/login/cookies.ts';
import { answerOf, koaContext } from '../../test/harness/login/koa-context.ts';
import { relayErrorOf } from './relay-error-of.ts';

const id = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const setCookie =
  /^(__Host-Http-)?lr_login_([0-9a-f]{16}|finished)=[\w.-]*; Max-Age=(0|600); Path=\/; HttpOnly(; Secure)?; SameSite=Lax$/;

/** Fails if a Cookie header is read wrongly. Each character is a byte. */
export function checkCookies(header: string): void {
  for (const secure of [true, false]) {
    const cookies = createLoginCookies(secure);
    const name = secure ? '__Host-Http-lr_login_0011223344556677' : 'lr_login_0011223344556677';
    const ctx = koaContext({ cookie: header });
    const secret = relayErrorOf(() => cookies.get(ctx, id));
    if (secret instanceof RelayError) {
      assert.equal(secret.code, 'cookie_invalid');
      assert.ok(hasRelayCookie(header));
    } else if (secret !== undefined) {
      assert.equal(secret.length, 32);
      assert.ok(header.includes(name) && header.includes(secret.toString('base64url')));
      assert.ok(hasRelayCookie(header));
    }
    cookies.isFinished(ctx, id);
    cookies.set(ctx, id, Buffer.alloc(32));
    cookies.finish(ctx, id);
    for (const value of answerOf(ctx).headers['set-cookie'] ?? []) assert.match(value, setCookie);
  }
}

export function fuzz(data: Buffer): void {
  checkCookies(data.toString('latin1'));
}
