import type { Config } from '../config/config.ts';
import type { Option } from '../config/settings/setting.ts';
import { describeOption, namesAt, options } from '../config/settings/settings.ts';
import { headerSizeFor } from '../relay/running-relay.ts';

/**
 * Warns of settings that have changed since the start, and that a reload cannot change.
 *
 * @param hasSocket whether systemd passes the socket: port and host then have no effect at all
 */
export function restartWarnings(
  started: Config,
  reloaded: Config,
  hasSocket: boolean,
): readonly string[] {
  const ofRelay = namesAt('relay');
  type Name = (typeof ofRelay)[number];
  const hasChanged = (name: Name) => {
    const { restart }: Option = options[name];
    const [before, after] = [started[name], reloaded[name]];
    if (restart === 'presence') return (before === undefined) !== (after === undefined);
    return restart === true && before !== after;
  };
  const withoutEffect: Name[] = [
    ...(hasSocket ? (['port', 'host'] as const) : []),
    // Without a port, the host means nothing.
    ...(started.metrics && reloaded.metrics ? [] : (['metricsHost'] as const)),
  ];
  const warnings = ofRelay
    .filter((name) => hasChanged(name) && !withoutEffect.includes(name))
    .map((name) => `${describeOption(name)} has changed: restart the relay to use it`);
  if (headerSizeFor(reloaded) <= headerSizeFor(started)) return warnings;
  return [...warnings, 'a front end has sessions now: restart the relay to make room for cookies'];
}
