// Session: the relay keeps the tokens in a cookie. The page never has one.
import { runWithClient } from './with-client.js';

runWithClient({ mode: 'session' });
