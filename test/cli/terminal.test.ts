import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { relayCommand } from '../harness/relay/relay-process.ts';
import { needs } from '../harness/system/needs.ts';

/** Runs a command on a terminal of 60 columns, with `script` of util-linux. */
const onTerminal = (command: string) =>
  spawnSync('script', ['-qec', `stty cols 60; ${command}`, '/dev/null'], { encoding: 'utf8' });

needs('pseudo-terminal for script of util-linux', onTerminal('true').status === 0).describe(
  'the faults of a configuration on a terminal',
  () => {
    it('keep to its width and break no words', () => {
      const words = ['--frontend-url', 'https://a.example/?access_token=1', '--provider', 'githbu'];
      const command = [...relayCommand, ...words].map((word) => `'${word}'`).join(' ');
      const { stdout } = onTerminal(command);
      const lines = stdout.trimEnd().split('\r\n');
      expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(60);
      expect(lines[0]).to.equal('login-relay cannot start:');
      expect(stdout.replaceAll(/\s+/g, ' ')).to.contain(
        '"githbu" must be one that login-relay providers lists: did you mean github?',
      );
    });
  },
);
