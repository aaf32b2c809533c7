// Checks the SDKs of OpenAI and Anthropic for JavaScript with the tools of an MCP server of models.yaml.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const load = async (folder, name) => (await import(createRequire(folder + '/').resolve(name))).default;
const OpenAI = await load(process.env.COMPAT_MODULES, 'openai');
const Anthropic = await load(process.env.COMPAT_ANTHROPIC, '@anthropic-ai/sdk');
const base = process.env.COMPAT_BASE, apiKey = process.env.COMPAT_KEY;
const sdk = new OpenAI({ apiKey, baseURL: base + '/v1', maxRetries: 0 });
const claude = new Anthropic({ apiKey, baseURL: base, maxRetries: 0 });
const model = 'tools-plan', found = 'Oslo is in Norway';
const plan = 'maps__city {"Name": "Oslo"}\nsay In Norway.';
const server = (more = {}) => ({ type: 'mcp', server_label: 'maps', require_approval: 'never', ...more });

const checkCalls = ({ output, output_text }) => {
  assert.deepEqual(output.map((i) => i.type), ['mcp_list_tools', 'mcp_call', 'message']);
  assert.deepEqual([output[1].name, output[1].output, output[1].error, output_text], ['city', found, null, 'In Norway.']);
};
const body = { model, input: plan, tools: [server()] };
checkCalls(await sdk.responses.create(body));
const stream = sdk.responses.stream(body);
const names = [];
for await (const event of stream) names.push(event.type);
checkCalls(await stream.finalResponse());
for (const step of ['mcp_list_tools.completed', 'mcp_call_arguments.done', 'mcp_call.completed']) assert.ok(names.includes('response.' + step), step);

const tools = [server({ require_approval: 'always' })];
const turns = [{ role: 'user', content: plan }];
const first = await sdk.responses.create({ model, input: turns, tools });
const request = first.output.at(-1);
assert.equal(request.type, 'mcp_approval_request');
turns.push(...first.output, { type: 'mcp_approval_response', approval_request_id: request.id, approve: true });
const second = await sdk.responses.create({ model, input: turns, tools });
assert.deepEqual([second.output[0].output, second.output[0].approval_request_id], [found, request.id]);

const chat = { model, messages: [{ role: 'user', content: plan }], tools: [server()] };
assert.equal((await sdk.chat.completions.create(chat)).choices[0].message.executed_tools[0].output, found);

const checkBlocks = ({ content }) => {
  assert.deepEqual(content.map((b) => b.type), ['mcp_tool_use', 'mcp_tool_result', 'text']);
  assert.deepEqual([content[0].input, content[1].content[0].text], [{ Name: 'Oslo' }, found]);
};
const message = {
  model, max_tokens: 999, messages: [{ role: 'user', content: plan }], betas: ['mcp-client-2025-11-20'],
  tools: [{ type: 'mcp_toolset', mcp_server_name: 'maps' }],
};
checkBlocks(await claude.beta.messages.create(message));
checkBlocks(await claude.beta.messages.stream(message).finalMessage());
