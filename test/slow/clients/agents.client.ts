import { expect } from 'chai';
import { memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { AgentHome, agents } from './support/agents.ts';
import { GatewayRig } from './support/gateway-rig.ts';
import type { Given } from './support/mcp-clients.ts';
import { ResourcesRig } from './support/resources-rig.ts';
import { StandInModel } from './support/stand-in-model.ts';

const hour = 3_600_000;

/** Claude Code has a document at its maker's site, which these tests do not reach. Without documents, it registers itself. */
const clients = 'registration: true';

needsPrograms('caddy', memoryProgram, 'script').describe(
  'a command line in which a model uses an MCP server, as it is published,',
  () => {
    const gateway = startedOnce(
      'the gateway and its servers',
      () => GatewayRig.start({ clients }),
      (one) => one.stop(),
    );
    const checked = startedOnce(
      'Caddy and its servers',
      () => ResourcesRig.start(clients),
      (one) => one.stop(),
    );
    const model = startedOnce('the model', StandInModel.start, (one) => one.stop());

    for (const [name, open] of Object.entries(agents)) {
      it(`is ${name}, at a server behind the gateway`, async () => {
        const rig = gateway();
        rig.forget();
        model().wants('echo', { message: 'hello' }, 'Echo: hello');
        await expectUse(open, { rig, url: rig.urls.everything, tool: 'echo' });
      });

      it(`is ${name}, at a server behind Caddy`, async () => {
        const rig = checked();
        rig.forget();
        model().wants('whoami', {}, 'You are 42');
        await expectUse(open, { rig, url: rig.urls.notes, tool: 'whoami' });
      });
    }

    /** It logs in once, and its model uses the tool, also when the token has ended. */
    async function expectUse(
      open: (typeof agents)[keyof typeof agents],
      { rig, url, tool }: { readonly rig: GatewayRig | ResourcesRig; readonly url: string; readonly tool: string },
    ) {
      const { certificateFile } = rig as Given['rig'];
      const home = await AgentHome.create({ visit: (start) => rig.visit(start) });
      try {
        const agent = await open({ workspace: home.workspace, url, model: model().address, certificateFile });
        await agent.logIn();
        await agent.use(tool);
        expect(model().heardResult, home.workspace.output).to.equal(true);
        rig.relay.ahead += hour;
        model().heard.length = 0;
        await agent.use(tool);
        expect(model().heardResult, home.workspace.output).to.equal(true);
        expect(rig.logins).to.have.lengthOf(1);
        expect(rig.relay.provider.credentials('refresh')).to.have.lengthOf(1);
      } finally {
        await home.close();
      }
    }
  },
);
