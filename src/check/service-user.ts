import { dirname } from 'node:path';
import type { ReadFile } from '../config/files.ts';
import { type Finding, warning } from './finding.ts';

/** The user that the service runs as: the one of the Debian package and of `login-relay systemd`. */
const serviceUser = 'login-relay';

/** Who may use a file or directory. */
export interface Access {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

const read = 0o4;
const enter = 0o1;

/**
 * Says which files the user of the service cannot read, although root, who runs this command, can.
 *
 * @param paths absolute paths that were read
 * @param accessOf tells who may use a path
 * @returns nothing if this machine has no such user
 */
export function checkServiceUser(
  paths: readonly string[],
  readFile: ReadFile,
  accessOf: (path: string) => Access,
): Finding[] {
  const ids = idsOf(serviceUser, readFile);
  if (ids === undefined) return [];
  return paths.flatMap((path) => {
    const directory = directoriesOf(path).find((one) => !may(ids, enter, accessOf(one)));
    const blocked = directory ?? (may(ids, read, accessOf(path)) ? undefined : path);
    if (blocked === undefined) return [];
    const change = blocked === path ? 'g+r' : 'g+x';
    return [
      warning(
        'configuration',
        `the user ${serviceUser} of the service may not read ${path}`,
        `chgrp ${serviceUser} ${blocked} && chmod ${change} ${blocked}`,
      ),
    ];
  });
}

/** The directories above a path, from the root on. */
function directoriesOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...directoriesOf(parent), parent];
}

interface Ids {
  readonly uid: number;
  readonly gids: ReadonlySet<number>;
}

function may(ids: Ids, right: number, { uid, gid, mode }: Access): boolean {
  if (ids.uid === 0) return true;
  if (ids.uid === uid) return (mode & (right << 6)) !== 0;
  return (mode & (ids.gids.has(gid) ? right << 3 : right)) !== 0;
}

/** @see passwd(5), group(5) */
function idsOf(user: string, readFile: ReadFile): Ids | undefined {
  const [, , uid, gid] = recordsOf('/etc/passwd', readFile).find(([name]) => name === user) ?? [];
  if (uid === undefined) return undefined;
  const others = recordsOf('/etc/group', readFile)
    .filter(([, , , members = '']) => members.split(',').includes(user))
    .map(([, , other]) => Number(other));
  return { uid: Number(uid), gids: new Set([Number(gid), ...others]) };
}

/** The lines of a file of users or groups. None if it cannot be read. */
function recordsOf(path: string, readFile: ReadFile): string[][] {
  try {
    const { text } = readFile(path);
    return text.split('\n').map((line) => line.split(':'));
  } catch {
    return [];
  }
}
