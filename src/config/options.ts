import type * as v from 'valibot';
import type { Option } from './option.ts';
import { clientOptions } from './sections/clients.ts';
import { configFileOptions } from './sections/config-file.ts';
import { frontEndOptions, requiredFrontEndOptions } from './sections/front-end.ts';
import { listeningOptions } from './sections/listening.ts';
import { loginProtectionOptions } from './sections/login-protection.ts';
import { observabilityOptions } from './sections/observability.ts';
import { providerOptions } from './sections/provider.ts';
import { refreshTokenOptions } from './sections/refresh-tokens.ts';
import { registrationOptions, requiredRegistrationOptions } from './sections/registration.ts';
import { sessionOptions } from './sections/sessions.ts';

/** Every option of `login-relay serve`, in the order of the help. */
export const options = {
  ...requiredFrontEndOptions,
  ...requiredRegistrationOptions,
  ...listeningOptions,
  ...clientOptions,
  ...frontEndOptions,
  ...refreshTokenOptions,
  ...sessionOptions,
  ...providerOptions,
  ...registrationOptions,
  ...loginProtectionOptions,
  ...observabilityOptions,
  ...configFileOptions,
} as const satisfies Record<string, Option>;

/** The name of an option. Commander uses the same name for the flag's value. */
export type OptionName = keyof typeof options;

/** The parsed value of each option that has one. */
export type OptionValues = {
  readonly [Name in OptionName]?: v.InferOutput<(typeof options)[Name]['schema']> | undefined;
};

/** Names an option for people: its flag and its variable. */
export function describeOption(name: OptionName): string {
  return `${options[name].flag} (${options[name].variable})`;
}
