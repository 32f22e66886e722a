import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Command } from 'commander';
import { formatAllOptions } from '../../src/cli/help.ts';
import { createProgram } from '../../src/cli/program.ts';
import { options } from '../../src/config/settings/settings.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

describe('the help', () => {
  const program = createProgram(Object.create(null), () => {});
  const commands = [program, ...program.commands];

  /** The help as a terminal of that width gets it. */
  function helpAt(width: number, command: Command): string {
    let text = '';
    command.configureOutput({
      getOutHelpWidth: () => width,
      writeOut: (written) => {
        text += written;
      },
    });
    command.outputHelp();
    return text;
  }

  const words = (text: string) => text.split(/\s+/).sort().join(' ');

  it('fits 60 lines, with the options that the README uses', () => {
    const text = helpAt(80, program);
    expect(text.trimEnd().split('\n')).to.have.length.of.at.most(60);
    for (const [flag] of readme.matchAll(/(?<=^ +)--[a-z-]+/gm)) {
      expect(text).to.include(`  ${flag} `);
    }
  });

  it('explains all options on request, the required ones first, with their variables and defaults', () => {
    const all = formatAllOptions(program);
    const headings = all.match(/^\S.*:$/gm) ?? [];
    expect(headings.slice(0, 2)).to.deep.equal(['Required:', 'Listening:']);
    const [, required = ''] = /^Required:\n([\s\S]*?)\n\n/m.exec(all) ?? [];
    expect(required.match(/^ +--[a-z-]+/gm)?.map((flag) => flag.trim())).to.deep.equal([
      '--origin',
      '--client-id',
      '--client-secret-file',
      '--client-secret',
    ]);
    const notes = all.replaceAll(/\n {6,}/g, ' ').match(/\([A-Z_]+; (?:required|default: )/g) ?? [];
    expect(notes).to.have.lengthOf(Object.keys(options).length);
  });

  for (const command of commands) {
    for (const width of [60, 80, 120]) {
      it(`of ${command.name()} fits ${width} columns and breaks no words`, () => {
        const text = helpAt(width, command);
        const widest = Math.max(...text.split('\n').map((line) => line.length));
        expect(widest).to.be.at.most(width);
        expect(words(text)).to.equal(words(helpAt(1000, command)));
      });
    }

    it(`of ${command.name()} puts descriptions on separate lines in 40 columns`, () => {
      const [ownText = ''] = helpAt(40, command).split(/^Examples:|^Load it/m);
      for (const line of ownText.split('\n')) {
        if (line.length > 40) expect(line.trim(), 'one long word').not.to.contain(' ');
      }
    });
  }
});
