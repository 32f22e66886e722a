import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { formatPageTexts } from '../../src/cli/commands/pages.ts';
import { accentStyle } from '../../src/delivery/accent.ts';
import { html } from '../../src/delivery/html.ts';
import { pageTexts } from '../../src/delivery/page-texts.ts';
import { createPages } from '../../src/delivery/pages.ts';
import { RelayError } from '../../src/failures/relay-error.ts';
import { faultsOfFile, minimal, readFileConfig } from '../config/support/read.ts';
import { projectRoot } from '../harness/project/run.ts';

const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';

/** A configuration with these lines in `pages`. */
const given = (pages: string, logo = svg) =>
  [`pages:\n${pages.replaceAll(/^/gm, '  ')}`, { environment: minimal, files: { './logo': { text: logo } } }] as const;

describe("the relay's pages", () => {
  for (const lang of ['de', 'fr']) {
    it(`have all of their texts in deploy/pages/${lang}.yaml`, () => {
      const text = readFileSync(join(projectRoot, `deploy/pages/${lang}.yaml`), 'utf8');
      const { texts } = parse(text);
      expect(Object.keys(texts)).to.deep.equal(Object.keys(pageTexts));
      const { config } = readFileConfig(...given(text));
      expect(config.pages).to.deep.include({ lang, texts });
    });
  }

  it('show what the operator says as text, and load nothing', () => {
    const { config } = readFileConfig(
      ...given(`name: <i>Ada & Co</i>
logo: logo
contact: help@example.com
lang: de
texts: { whom_to_ask: "<b>{contact}", access_denied: Abgebrochen }`),
    );
    const pages = createPages(config.pages);
    const shown = pages.render(
      'heading_failed',
      html`${pages.describeFailure(new RelayError('access_denied'))}${pages.whomToAsk}`,
    );
    expect(shown).to.contain('<html lang="de" dir="auto">').and.to.contain('<p>Abgebrochen</p>');
    expect(shown).to.contain('<span>&lt;i&gt;Ada &amp; Co&lt;/i&gt;</span>');
    expect(shown).to.contain('&lt;b&gt;<a href="mailto:help@example.com">help@example.com</a>');
    const logo = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
    expect(shown).to.contain(`<img src="${logo}" alt="">`);
    expect(pages.policy()).to.contain("default-src 'none'").and.to.contain('; img-src data:;');
    expect(createPages().policy()).not.to.contain('img-src');
    // Its detail is for developers.
    const unknown = createPages({ lang: 'de' }).describeFailure(new RelayError('redirect_uri_unknown'));
    expect(unknown.markup).to.contain('<span lang="en">The redirect_uri is missing');
  });

  it('accept no other settings, and report all faults at once', () => {
    const wrong = `name: "a\\nb"
logo: logo
colour: green
contact: javascript:alert(1)
lang: Deutsch!`;
    expect(faultsOfFile(...given(wrong, '<html>'))).to.deep.equal([
      'config.yaml:2:3 pages.name must be one line, without control characters',
      'config.yaml:3:3 pages.logo names a file that is no SVG, PNG, JPEG or WebP',
      'config.yaml:4:3 pages.colour must be #rrggbb, in quotes',
      'config.yaml:5:3 pages.contact must be a mail address or a URL',
      'config.yaml:6:3 pages.lang must be a language tag',
    ]);
  });

  it('leave out a text that does not match, such as a text of another version, with a warning', () => {
    const own = 'texts: { back_to: Zurück, access_denied: "{site}", log_in_agian: Los, home_go: , not_found: Weg }';
    const { config, warnings } = readFileConfig(...given(own));
    expect(warnings).to.deep.equal([
      'config.yaml:2:12 pages.texts.back_to must have {site}, and no other braces',
      'config.yaml:2:29 pages.texts.access_denied must have no braces',
      'config.yaml:2:54 pages.texts.log_in_agian is unknown: did you mean log_in_again?',
      'config.yaml:2:73 pages.texts.home_go has no value',
    ]);
    const known = Object.entries(config.pages?.texts ?? {}).filter(([, text]) => text);
    expect(known).to.deep.equal([['not_found', 'Weg']]);
  });

  it('have an accent that everybody can read, whatever its colour', () => {
    const channel = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(channel, channel, channel, (...rgb) => {
        const colour = `#${rgb.map((one) => one.toString(16).padStart(2, '0')).join('')}`;
        const rules = [...accentStyle(colour).matchAll(/--accent: (\S+); .*--on-accent: (\S+) \}/g)];
        const sheets = ['#fffdf8', '#1a211e'];
        rules.forEach(([, accent = '', ink = ''], index) => {
          expect(contrast(accent, sheets[index] ?? ''), colour).to.be.at.least(4.5);
          expect(contrast(colour, ink), colour).to.be.at.least(4.5);
        });
        expect(rules).to.have.lengthOf(2);
      }),
    );
  });

  it('are printed with their keys', () => {
    expect(parse(formatPageTexts())).to.deep.equal(pageTexts);
  });
});

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(...colours: readonly string[]): number {
  const [darker = 0, lighter = 0] = colours
    .map((colour) => {
      const [r = 0, g = 0, b = 0] = (colour.match(/[0-9a-f]{2}/g) ?? []).map((hex) => {
        const part = Number.parseInt(hex, 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    })
    .toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}
