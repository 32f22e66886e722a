/** An answer from a connection. Each character is a byte. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const head = /^HTTP\/1\.1 (\d{3}) [ -~]*\r\n((?:[!-9;-~]+: [\t -~\x80-\xff]*\r\n)*)\r\n/;

/**
 * Splits the bytes of a connection into answers.
 *
 * @param ended whether more bytes can come
 * @returns the complete answers, and the remaining bytes
 */
export function readAnswers(bytes: string, ended = false): { answers: RawAnswer[]; rest: string } {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const [all = '', status = '', lines = ''] = head.exec(rest) ?? [];
    if (all === '') return { answers, rest };
    const headers = lines
      .split('\r\n')
      .slice(0, -1)
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(': ') + 2)] as const);
    const after = rest.slice(all.length);
    const announced = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0);
    // Only the answer to HEAD announces a body without sending one. Another answer follows, or nothing.
    const isToHead = after.startsWith('HTTP/1.1 ') || (after === '' && ended);
    const length = isToHead ? 0 : announced;
    if (after.length < length) return { answers, rest };
    // 100 (Continue) is no answer yet.
    if (status !== '100') {
      answers.push({ status: Number(status), headers, body: after.slice(0, length) });
    }
    rest = after.slice(length);
  }
}
