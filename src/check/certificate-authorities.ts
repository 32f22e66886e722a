import type { ReadFile } from '../config/files.ts';
import type { OptionSources } from '../config/sources.ts';
import { type Finding, ok, problem } from './finding.ts';

const subject = 'certificate authorities';
const fix = 'set NODE_EXTRA_CA_CERTS to a PEM file that the relay’s user may read';

/** Checks the file of additional certificate authorities. Node ignores a file that it cannot use. */
export function checkCertificateAuthorities(
  environment: OptionSources['environment'],
  readFile: ReadFile,
): Finding[] {
  const path = environment['NODE_EXTRA_CA_CERTS'];
  if (!path) return [];
  let text: string;
  try {
    ({ text } = readFile(path));
  } catch {
    return [problem(subject, 'the file that NODE_EXTRA_CA_CERTS names cannot be read', fix)];
  }
  return [
    text.includes('-----BEGIN CERTIFICATE-----')
      ? ok(subject, 'those of NODE_EXTRA_CA_CERTS are trusted, too')
      : problem(subject, 'the file that NODE_EXTRA_CA_CERTS names holds no PEM certificate', fix),
  ];
}
