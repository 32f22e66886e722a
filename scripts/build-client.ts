// Builds the browser client.
// Usage: node scripts/build-client.ts
import { writeFileSync } from 'node:fs';
import { bundleClient } from './client-bundle.ts';

writeFileSync('client/client.js', await bundleClient());
