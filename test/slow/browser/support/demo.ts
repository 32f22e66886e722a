import { expect } from 'chai';
import { RelayProcess } from '../../../harness/relay/relay-process.ts';

/** The URLs of the demo for the enclosing `describe`. */
export function useDemo(): () => { readonly frontEnd: string; readonly provider: string } {
  let demo: RelayProcess;
  let urls: { readonly frontEnd: string; readonly provider: string };

  before('the demo starts', async () => {
    demo = new RelayProcess({ words: ['demo'], flags: { port: '0' } });
    const urlOf = (name: string) =>
      demo.output((text) => new RegExp(`^ *${name} +(http://\\S+)\n`, 'm').exec(text)?.[1]);
    urls = { frontEnd: await urlOf('front end'), provider: await urlOf('provider') };
  });
  after('the demo stops', async () => {
    const { code, stderr } = await demo.stop('SIGINT');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });
  return () => urls;
}
