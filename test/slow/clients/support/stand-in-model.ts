import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Serving, serve } from '../../../harness/provider/serve.ts';

/** The next answer of a model, which lets its program use a tool, or ends. */
interface Reply {
  /** The name of the tool, in a namespace if the program has namespaces; or undefined if the model ends. */
  readonly tool: { readonly name: string; readonly namespace?: string } | undefined;
  /** The arguments of the tool, as JSON. */
  readonly given: string;
}

type Event = readonly [name: string | undefined, data: object | string];

/**
 * Stands in for the models of three makers. It lets the program use one tool of an MCP server, and is done when it has
 * heard what the tool says.
 */
export class StandInModel {
  /** The messages of the program. */
  readonly heard: string[] = [];
  #serving: Serving | undefined;
  #tool = '';
  #given = '';
  #expected = '';

  static async start(): Promise<StandInModel> {
    const model = new StandInModel();
    model.#serving = await serve(async (request, response) => {
      const asked = await text(request);
      const dialect = Object.entries(dialects).find(([path]) => request.url?.startsWith(path))?.[1];
      if (dialect === undefined) return void response.writeHead(404).end();
      model.heard.push(asked);
      const isDone = model.heardResult || model.heard.length > 10;
      const tool = isDone ? undefined : dialect.nameOf(asked, model.#tool);
      send(response, dialect.events({ tool, given: model.#given }));
    });
    return model;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#serving?.port}`;
  }

  /** From now on, it wants the tool to be used, until it hears the result. */
  wants(tool: string, given: object, result: string): void {
    this.heard.length = 0;
    this.#tool = tool;
    this.#given = JSON.stringify(given);
    this.#expected = result;
  }

  /** Whether a program has told it the result of the tool. */
  get heardResult(): boolean {
    return this.heard.some((one) => one.includes(this.#expected));
  }

  async stop(): Promise<void> {
    await this.#serving?.close();
  }
}

function send(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const [name, data] of events) {
    const line = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${line}\n\n`);
  }
  response.end();
}

/** The name of the server, as the programs know it. */
export const serverName = 'tools';

interface Dialect {
  /** The name of a tool of the server. @returns undefined if the program has told of none with which it could work */
  nameOf(asked: string, tool: string): Reply['tool'];
  events(reply: Reply): readonly Event[];
}

/** By their paths: Anthropic's messages, OpenAI's responses, and its older chat completions. */
const dialects: Readonly<Record<string, Dialect>> = {
  '/v1/messages': {
    nameOf: (_, tool) => ({ name: `mcp__${serverName}__${tool}` }),
    events: ({ tool, given }) => {
      const content_block = tool
        ? { type: 'tool_use', id: 'use', name: tool.name, input: {} }
        : { type: 'text', text: '' };
      const delta = tool ? { type: 'input_json_delta', partial_json: given } : { type: 'text_delta', text: 'done' };
      const message = { id: 'message', type: 'message', role: 'assistant', model: 'stand-in', content: [] };
      const usage = { input_tokens: 1, output_tokens: 1 };
      return (
        [
          { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
          { type: 'content_block_start', index: 0, content_block },
          { type: 'content_block_delta', index: 0, delta },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: tool ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
          { type: 'message_stop' },
        ] as const
      ).map((event) => [event.type, event]);
    },
  },
  '/v1/responses': {
    nameOf: (asked, tool) =>
      asked.includes('"type":"namespace"')
        ? { namespace: `mcp__${serverName}`, name: tool }
        : { name: `mcp__${serverName}__${tool}` },
    events: ({ tool, given }) => {
      const said = { type: 'message', id: 'said', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] };
      const call = { type: 'function_call', id: 'call', call_id: 'call', ...tool, arguments: given };
      const item = { ...(tool ? call : said), status: 'completed' };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const response = { id: 'response', object: 'response', status: 'completed', output: [item], usage };
      return (
        [
          { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
          { type: 'response.output_item.done', output_index: 0, item },
          { type: 'response.completed', response },
        ] as const
      ).map((event) => [event.type, event]);
    },
  },
  '/v1/chat/completions': {
    // A question for the title of a conversation has no tools.
    nameOf: (asked, tool) =>
      asked.includes(`"${serverName}_${tool}"`) ? { name: `${serverName}_${tool}` } : undefined,
    events: ({ tool, given }) => {
      const chunk = { id: 'chunk', object: 'chat.completion.chunk', created: 1, model: 'stand-in' };
      const called = { index: 0, id: 'call', type: 'function', function: { name: tool?.name, arguments: given } };
      const delta = { role: 'assistant', ...(tool ? { tool_calls: [called] } : { content: 'done' }) };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const finish_reason = tool ? 'tool_calls' : 'stop';
      return [
        [undefined, { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] }],
        [undefined, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage }],
        [undefined, '[DONE]'],
      ];
    },
  },
};
