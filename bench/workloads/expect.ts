import { type Answer, header } from '../load/http-connection.ts';

/** An answer that is not what it has to be: the figures of such a run mean nothing. */
class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

/** @throws {WrongAnswer} */
export function expect(right: boolean, what: string, { head, body }: Answer): void {
  if (!right) throw new WrongAnswer(`${what}:\n${head}\n${body}`);
}

/** Where a redirect leads. @throws {WrongAnswer} where it leads elsewhere than asked for, or nowhere */
export function redirection(answer: Answer, destination: string): string {
  const location = header(answer.head, 'location') ?? '';
  const redirects = answer.status >= 302 && answer.status <= 308;
  expect(redirects && location.startsWith(destination), `no redirect to ${destination}`, answer);
  return location;
}
