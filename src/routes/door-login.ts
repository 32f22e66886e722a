import { type DoorHost, openEvenIfEnded } from '../browsers/browser-door.ts';
import { opensPage } from '../browsers/browser-request.ts';
import { RelayError } from '../failures/relay-error.ts';
import { type Context, type Handler, readQuery } from '../http/context.ts';
import { expectNoFrame } from '../http/request-guards.ts';
import { readSingle } from '../oauth/query.ts';
import { readPrompt } from './choose-provider.ts';
import { addressOfLogin, redirectThroughProxy } from './enter-door.ts';

/**
 * `GET /.login-relay/login` at the host of a resource: goes on with a login that this browser has begun. Pages of the
 * relay at this host link here, because a script of the application could read the address of the start in them. A
 * script cannot read the target of this redirect to another origin.
 */
export function continueLogin(host: DoorHost): Handler {
  return (ctx: Context) => {
    const { logins, origin, resource } = host;
    ctx.state.resource = resource.name;
    expectNoFrame(ctx);
    if (!opensPage(ctx)) throw new RelayError('navigation_required');
    const query = readQuery(ctx);
    const state = readSingle(query['state']);
    const login = state === undefined ? undefined : logins.find(ctx, state);
    // The link is old, or of another browser. The page at the root begins another login if one is needed.
    if (state === undefined || login === undefined) {
      redirectThroughProxy(ctx, `${origin}/`);
      return;
    }
    const renewed = login.renews === undefined ? undefined : openEvenIfEnded(host, ctx);
    redirectThroughProxy(ctx, addressOfLogin(host, { state, renewed, prompt: readPrompt(query['prompt']) }));
  };
}
