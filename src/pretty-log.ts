import { prettyFactory } from 'pino-pretty';

const format = prettyFactory({
  hideObject: true,
  translateTime: 'SYS:HH:MM:ss',
  messageFormat: (line) => sentence(line),
});

/** Formats a line of the log for a person at a terminal. */
export function prettyLine(line: string): string {
  return format(line);
}

function sentence(line: Readonly<Record<string, unknown>>): string {
  if (line['msg'] === 'listening') {
    return `listening on ${line['address']}\n  callback URL to register at the provider: ${line['callbackUrl']}`;
  }
  if (line['msg'] === 'provider discovery') {
    const { outcome, explanation, retryIn } = line;
    if (outcome === 'discovered') return 'the issuer has told the addresses of the provider';
    return `provider discovery failed: ${explanation}; next attempt in ${Number(retryIn) / 1000} s`;
  }
  if (line['msg'] !== 'request') return String(line['msg']);
  const request = [line['method'], line['route'] ?? '(no such address)', line['status']];
  const sentence = `${request.join(' ')} ${line['outcome']} in ${line['durationMs']} ms`;
  return [sentence, providerCall(line['provider']), line['stack']].filter(Boolean).join('\n  ');
}

function providerCall(call: unknown): string | undefined {
  if (typeof call !== 'object' || call === null) return undefined;
  const { endpoint, outcome, status, durationMs } = call as Record<string, unknown>;
  return `provider's ${endpoint} endpoint: ${status ?? outcome} in ${durationMs} ms`;
}
