import { configureGlobal } from 'fast-check';

// Every run of the tests checks properties with the same inputs, so that none fails by chance.
// `scripts/long fuzz-properties` checks them with others.
if (process.env['FUZZ_RUNS'] === undefined) configureGlobal({ seed: 1 });
