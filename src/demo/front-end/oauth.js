// OAuth: the page gets a code, and trades it for the tokens.
import { runWithClient } from './with-client.js';

runWithClient({});
