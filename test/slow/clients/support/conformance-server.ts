import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { Server as SessionServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as sdk from '@modelcontextprotocol/sdk/types.js';
import { CLIENT_CAPABILITIES_META_KEY, createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server';
import { type Serving, serve } from '../../../harness/provider/serve.ts';
import { passToHandler } from './fetch-handler.ts';

// The features that a server offers so that the conformance suite tests everything. The names and texts are the
// suite's.

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const sound = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const textOf = (text: string) => ({ type: 'text' as const, text });
const image = { type: 'image' as const, data: picture, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, text: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text },
});

/** Tools that answer at once. */
const contents = {
  test_simple_text: [textOf('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio' as const, data: sound, mimeType: 'audio/wav' }],
  test_embedded_resource: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [
    textOf('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
} as const;

const form = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required });

const titled = (name: string) =>
  ['value1', 'value2', 'value3'].map((value, at) => ({ const: value, title: `${name} ${at}` }));
const options = ['option1', 'option2', 'option3'];

/** Tools that ask the person, and the forms. */
const forms: Readonly<Record<string, object>> = {
  test_elicitation: form({ response: { type: 'string', description: 'The response' } }, ['response']),
  test_elicitation_sep1034_defaults: form({
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  test_elicitation_sep1330_enums: form({
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled('Option') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { anyOf: titled('Choice') } },
  }),
};

const toolNames = [
  ...Object.keys(contents),
  'test_tool_with_logging',
  'test_tool_with_progress',
  'test_error_handling',
  'test_sampling',
  ...Object.keys(forms),
];
const toolOf = (name: string) => ({ name, description: name, inputSchema: { type: 'object' as const } });
const tools = toolNames.map(toolOf);

const resources = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: picture },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
} as const;

function contentsOf(uri: string) {
  const known = Object.entries(resources).find(([name]) => name === uri)?.[1];
  if (known !== undefined) return [{ uri, ...known }];
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id === undefined) return undefined;
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return [{ uri, mimeType: 'application/json', text }];
}

const resourceList = Object.entries(resources).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType }));
const templates = [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }];

const argument = (name: string) => ({ name, description: name, required: true });
const prompts = [
  { name: 'test_simple_prompt', description: 'A simple prompt' },
  { name: 'test_prompt_with_arguments', description: 'Arguments', arguments: [argument('arg1'), argument('arg2')] },
  { name: 'test_prompt_with_embedded_resource', description: 'A resource', arguments: [argument('resourceUri')] },
  { name: 'test_prompt_with_image', description: 'An image' },
];

function messagesOf(name: string, given: Readonly<Record<string, string>> = {}) {
  const { arg1, arg2, resourceUri = '' } = given;
  const said = {
    test_simple_prompt: [textOf('This is a simple prompt for testing.')],
    test_prompt_with_arguments: [textOf(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    test_prompt_with_embedded_resource: [
      embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      textOf('Please process the embedded resource above.'),
    ],
    test_prompt_with_image: [image, textOf('Please analyze the image above.')],
  };
  const content = Object.entries(said).find(([known]) => known === name)?.[1] ?? [];
  return content.map((one) => ({ role: 'user' as const, content: one }));
}

const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} };
const completion = { completion: { values: [], total: 0, hasMore: false } };
const information = { name: 'conformance', version: '1' };

/** The parts of a tool, except for its name, in either protocol. */
interface Calling {
  log(data: string): Promise<void>;
  progress(progress: number): Promise<void>;
}

/** @returns undefined if the tool asks the client */
async function run(name: string, { log, progress }: Calling) {
  const answer = Object.entries(contents).find(([known]) => known === name)?.[1];
  if (answer !== undefined) return { content: [...answer] };
  if (name === 'test_error_handling') {
    return { content: [textOf('This tool intentionally returns an error for testing')], isError: true };
  }
  const step = () => new Promise((done) => setTimeout(done, 50));
  if (name === 'test_tool_with_logging' || name === 'test_logging_tool') {
    for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await log(text);
      await step();
    }
    return { content: [textOf('logged')] };
  }
  if (name !== 'test_tool_with_progress') return undefined;
  for (const done of [0, 50, 100]) {
    await progress(done);
    await step();
  }
  return { content: [textOf('done')] };
}

function sessionServer(): SessionServer {
  const server = new SessionServer(information, { capabilities });
  server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(sdk.ListResourcesRequestSchema, () => ({ resources: resourceList }));
  server.setRequestHandler(sdk.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: templates }));
  server.setRequestHandler(sdk.ListPromptsRequestSchema, () => ({ prompts }));
  server.setRequestHandler(sdk.CompleteRequestSchema, () => completion);
  for (const schema of [sdk.SubscribeRequestSchema, sdk.UnsubscribeRequestSchema, sdk.SetLevelRequestSchema] as const)
    server.setRequestHandler(schema, () => ({}));
  server.setRequestHandler(sdk.ReadResourceRequestSchema, ({ params }) => {
    const found = contentsOf(params.uri);
    if (found === undefined) throw new sdk.McpError(-32002, 'Resource not found', { uri: params.uri });
    return { contents: found };
  });
  server.setRequestHandler(sdk.GetPromptRequestSchema, ({ params }) => ({
    messages: messagesOf(params.name, params.arguments),
  }));
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }, { sendNotification, sendRequest, _meta }) => {
    const { name, arguments: given = {} } = params;
    const answer = await run(name, {
      log: (data) => sendNotification({ method: 'notifications/message', params: { level: 'info', data } }),
      progress: (progress) =>
        sendNotification({
          method: 'notifications/progress',
          params: { progressToken: _meta?.progressToken ?? 0, progress, total: 100 },
        }),
    });
    if (answer !== undefined) return answer;
    const form = forms[name];
    const asked =
      form === undefined
        ? {
            method: 'sampling/createMessage' as const,
            params: { messages: [{ role: 'user' as const, content: textOf(`${given['prompt']}`) }], maxTokens: 100 },
          }
        : {
            method: 'elicitation/create' as const,
            params: { message: `${given['message'] ?? 'Please fill in'}`, requestedSchema: form as never },
          };
    const said = await sendRequest(asked, sdk.ResultSchema);
    return { content: [textOf(`The client says ${JSON.stringify(said)}`)] };
  });
  return server;
}

/** Serves the protocol of 2025-11-25, with sessions. */
export async function serveSessions(): Promise<Serving> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return await serve(async (request, response) => {
    if (refusesForeign(request, response)) return;
    const body = request.method === 'POST' ? await json(request) : undefined;
    const known = sessions.get(`${request.headers['mcp-session-id']}`);
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
    if (known === undefined) await sessionServer().connect(transport as never);
    await transport.handleRequest(request, response, body);
  });
}

const ask = (name: string, type: string) => ({
  method: 'elicitation/create',
  params: { message: name, requestedSchema: form({ [name]: { type } }, [name]) },
});
const sample = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: textOf('Generate a greeting') }], maxTokens: 50 },
};
const roots = { method: 'roots/list', params: {} };

/** Tools of 2026-07-28 that ask the client, by rounds: what they ask in each. */
const rounds: Readonly<Record<string, readonly Readonly<Record<string, object>>[]>> = {
  test_input_required_result_elicitation: [{ user_name: ask('name', 'string') }],
  test_input_required_result_sampling: [{ sample_request: sample }],
  test_input_required_result_list_roots: [{ roots_request: roots }],
  test_input_required_result_request_state: [{ confirm: ask('ok', 'boolean') }],
  test_input_required_result_tampered_state: [{ confirm: ask('ok', 'boolean') }],
  test_input_required_result_multiple_inputs: [
    { user_name: ask('name', 'string'), greeting: sample, client_roots: roots },
  ],
  test_missing_capability: [{ sample_request: sample }],
  test_streaming_elicitation: [{ user_name: ask('name', 'string') }],
  test_input_required_result_multi_round: [{ step1: ask('name', 'string') }, { step2: ask('color', 'string') }],
};
const toolOfCapabilities = 'test_input_required_result_capabilities';
const promptThatAsks = { name: 'test_input_required_result_prompt', description: 'A prompt that asks' };
const roundOfPrompt = { user_context: ask('context', 'string') };

const secret = randomUUID();
const stateOf = (round: number) => `${round}.${createHmac('sha256', secret).update(`${round}`).digest('hex')}`;

interface Given {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  requestState(): string | undefined;
}

/** The questions that a client accepts, by the capability that it declares. */
const askedOf = { elicitation: ask('value', 'string'), sampling: sample, roots };

/** The next question of a tool. @returns undefined if it has all answers */
function askedNext(name: string, { inputResponses = {}, requestState: stateAnswered }: Given) {
  const requestState = stateAnswered();
  const asked = rounds[name] ?? [];
  const round = asked.findIndex((_, index) => stateOf(index) === requestState);
  if (requestState !== undefined && round < 0) throw new ProtocolError(-32602, 'The state was altered');
  const isAnswered = round >= 0 && Object.keys(asked[round] ?? {}).every((key) => key in inputResponses);
  const next = isAnswered ? round + 1 : Math.max(round, 0);
  const inputRequests = asked[next];
  return inputRequests && { resultType: 'input_required', inputRequests, requestState: stateOf(next) };
}

const cached = { ttlMs: 60_000, cacheScope: 'private' } as const;

function modernServer(): Server {
  const server = new Server(information, { capabilities });
  const all = [...tools, ...[...Object.keys(rounds), toolOfCapabilities, 'test_logging_tool'].map(toolOf)];
  server.setRequestHandler('tools/list', () => ({ tools: all, ...cached }));
  server.setRequestHandler('resources/list', () => ({ resources: resourceList, ...cached }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: templates, ...cached }));
  server.setRequestHandler('prompts/list', () => ({ prompts: [...prompts, promptThatAsks], ...cached }));
  server.setRequestHandler('completion/complete', () => completion);
  server.setRequestHandler('resources/read', ({ params }) => {
    const found = contentsOf(params.uri);
    if (found === undefined) throw new ProtocolError(-32602, 'Resource not found', { uri: params.uri });
    return { contents: found, ...cached };
  });
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { inputResponses } }) => {
    if (params.name !== promptThatAsks.name) return { messages: messagesOf(params.name, params.arguments) };
    if (inputResponses === undefined) return { resultType: 'input_required', inputRequests: roundOfPrompt } as never;
    return { messages: [{ role: 'user', content: textOf(JSON.stringify(inputResponses)) }] };
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { name } = params;
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    const answer = await run(name, {
      log: (data) => mcpReq.log('info', data),
      progress: (progress) =>
        mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } }),
    });
    if (answer !== undefined) return answer;
    if (name === toolOfCapabilities) {
      const declared = Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY] ?? {};
      const inputRequests = Object.fromEntries(Object.entries(askedOf).filter(([of]) => of in declared));
      return { resultType: 'input_required', inputRequests } as never;
    }
    if (!(name in rounds)) throw new ProtocolError(-32602, 'Unknown tool');
    const asked = askedNext(name, mcpReq);
    if (asked !== undefined) return asked as never;
    return { content: [textOf(`state-ok, integrity-ok: ${JSON.stringify(mcpReq.inputResponses)}`)] };
  });
  return server;
}

/** Serves the protocol of 2026-07-28, without sessions. */
export async function serveWithoutSessions(): Promise<Serving> {
  const { fetch } = createMcpHandler(modernServer, { legacy: 'reject' });
  return await serve(async (request, response) => {
    if (!refusesForeign(request, response)) await passToHandler(fetch, request, response);
  });
}

/** As servers on a person's machine do, against DNS rebinding. */
function refusesForeign({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const isOwn = (url: string) => ['127.0.0.1', 'localhost'].includes(new URL(url).hostname);
  if (isOwn(`http://${headers.host}`) && isOwn(headers.origin ?? 'http://localhost')) return false;
  response.writeHead(403).end();
  return true;
}
