import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { version } from '../../src/version.ts';
import { projectRoot } from '../harness/project/run.ts';

/** The places where files name the version, except for `package.json`. */
const places: Readonly<Record<string, readonly RegExp[]>> = {
  'package-lock.json': [/^ {2}"version": "(.*)"/gm, /"name": "login-relay",\s+"version": "(.*)"/g],
  'client/package.json': [/^ {2}"version": "(.*)"/gm],
  'CHANGELOG.md': [/^# Changelog\n\n## (\S+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$/gm],
  'docs/install.md': [/login-relay_(.*)-1_amd64\.deb/g, /login-relay-(.*?)-linux-x64/g],
  'docs/cms.md': [/login-relay_(.*)-1_amd64\.deb/g],
  'deploy/kubernetes/kustomization.yaml': [/newTag: (.*)/g],
  '.github/ISSUE_TEMPLATE/bug.yml': [/placeholder: login-relay (.*?),/g],
};

describe('the version', () => {
  for (const [file, patterns] of Object.entries(places)) {
    it(`in ${file} equals the version in package.json`, () => {
      const text = readFileSync(`${projectRoot}/${file}`, 'utf8');
      for (const pattern of patterns) {
        const named = new Set([...text.matchAll(pattern)].map(([, one]) => one));
        expect(named, pattern.source).to.deep.equal(new Set([version]));
      }
    });
  }
});
