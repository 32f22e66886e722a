import { expect } from 'chai';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';

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

  it('lists the commands first, then the required settings, then the others', () => {
    const headings = helpAt(80, program).match(/^\S.*:$/gm) ?? [];
    expect(headings.slice(0, 3)).to.deep.equal(['Commands:', 'Required:', 'Listening:']);
    expect(headings.slice(-2)).to.deep.equal(['Other:', 'Examples:']);
  });

  it('requires exactly the settings of the group of required settings', () => {
    const [, required = ''] = /^Required:\n([\s\S]*?)\n\n/m.exec(helpAt(80, program)) ?? [];
    expect(required.match(/^ +--[a-z-]+/gm)?.map((flag) => flag.trim())).to.deep.equal([
      '--origin',
      '--client-id',
      '--client-secret-file',
      '--client-secret',
    ]);
  });

  it('says for every variable whether it is required, or its default', () => {
    const notes = helpAt(1000, program).match(/\([A-Z_]+; [^\n]*\)$/gm) ?? [];
    expect(notes).not.to.deep.equal([]);
    for (const note of notes) expect(note).to.match(/^\([A-Z_]+; (required|default: )/);
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

  it('has lines of at most 100 characters on a wide terminal, to be readable', () => {
    const widest = Math.max(
      ...helpAt(250, program)
        .split('\n')
        .map((line) => line.length),
    );
    expect(widest).to.be.at.most(100);
  });
});
