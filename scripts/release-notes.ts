// Writes the notes of a release to standard output. Only they name what the release workflow makes.
import { version } from '../src/version.ts';
import { repository } from './repository.ts';

const signature = `cosign verify-blob --bundle SHA256SUMS.sigstore.json \\
  --certificate-oidc-issuer https://token.actions.githubusercontent.com \\
  --certificate-identity ${repository}/.github/workflows/release.yml@refs/tags/v${version} \\
  SHA256SUMS
`;

process.stdout.write(`CHANGELOG.md says what is new. docs/install.md says how to install it.

To verify the files${repository ? ', with [cosign](https://docs.sigstore.dev/)' : ''}:

\`\`\`sh
${repository ? signature : ''}sha256sum --check --ignore-missing SHA256SUMS
\`\`\`

\`make release\` of the tag gives the same bytes.
`);
