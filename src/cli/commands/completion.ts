import type { Command } from 'commander';
import { bashCompletion } from '../completions/bash.ts';
import { fishCompletion } from '../completions/fish.ts';
import { zshCompletion } from '../completions/zsh.ts';
import { describeProgram } from '../description.ts';
import type { Shell } from '../program.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `login-relay completion <shell>`: the script by which the shell completes this program. */
export function completion(shell: Shell, program: Command): string {
  return scripts[shell](describeProgram(program));
}
