import type { Option } from '../option.ts';
import * as schemas from '../schemas.ts';

/** Where the configuration is, besides flags and variables. */
export const configFileOptions = {
  config: {
    flag: '--config',
    argument: '<path>',
    variable: 'LOGIN_RELAY_CONFIG',
    group: 'Configuration file',
    help: 'YAML file with providers and front ends, and any other setting under its flag without dashes; flags and variables beat it',
    otherwise: 'none',
    schema: schemas.filePath,
  },
} as const satisfies Record<string, Option>;
