import { callbackPath, loginPath } from '../../../harness/relay/relay-under-test.ts';

const head = 'Host: login.example.com\r\nTransfer-Encoding: chunked\r\n\r\n';
const relayCookies = Array.from({ length: 470 }, (_, index) => {
  return `__Host-Http-lr_login_${index.toString(16).padStart(16, '0')}=`;
}).join('; ');
/** Requests that fail behind a balancer, although the relay has no fault; as bytes. */
export const hostileRequests: Readonly<Record<string, string>> = {
  'a malformed first chunk': `GET ${loginPath} HTTP/1.1\r\n${head}zz\r\n`,
  'a malformed second chunk': `GET ${loginPath} HTTP/1.1\r\n${head}4\r\nbody\r\nzz\r\n`,
  'a chunk that is longer than announced': `POST ${loginPath} HTTP/1.1\r\n${head}1\r\nbody\r\n0\r\n\r\n`,
  'a chunk that is never complete': `POST ${callbackPath} HTTP/1.1\r\n${head}ff\r\nbody`,
  'a malformed chunk to a callback': `GET ${callbackPath}?code=x HTTP/1.1\r\n${head}zz\r\n`,
  '470 cookies named like those of the relay': `GET ${loginPath} HTTP/1.1\r\nHost: login.example.com\r\nConnection: close\r\nCookie: ${relayCookies}\r\n\r\n`,
};
