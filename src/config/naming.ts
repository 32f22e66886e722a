import { isSettingOf } from './file/keys.ts';
import type { OptionName } from './options.ts';
import type { Naming, Reading } from './reading.ts';
import type { Readings } from './readings.ts';

/**
 * Names the settings of one login. A setting that nothing sets has no place.
 *
 * @param registration the name of an entry, if there are entries
 * @param frontEnd the same
 */
export function namingOf(
  { relay, providers, frontEnds }: Readings,
  registration: string,
  frontEnd: string,
): Naming {
  const readingOf = (entries: Readings['providers'], entryName: string) =>
    entries.find(({ entry }) => entry?.name === entryName)?.reading ?? entries[0].reading;
  const provider = readingOf(providers, registration);
  const ofFrontEnd = readingOf(frontEnds, frontEnd);
  const ownerOf = (name: OptionName): Reading => {
    if (isSettingOf('providers', name) || name === 'pathName') return provider;
    return isSettingOf('front-ends', name) ? ofFrontEnd : relay;
  };
  return {
    sourceOf: (name) => ownerOf(name).sourceOf(name),
    describe(name) {
      const owner = ownerOf(name);
      const isSet = owner.sourceOf(name) !== undefined;
      return isSet ? owner.describe(name) : owner.describeMissing(name);
    },
  };
}
