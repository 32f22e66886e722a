import { configureGlobal } from 'fast-check';

// Every run of the tests checks properties with the same inputs, so that none fails by chance.
// `make fuzz-properties` checks them with others.
if (process.env['FUZZ_RUNS'] === undefined) configureGlobal({ seed: 1 });
