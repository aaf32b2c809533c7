// Checks Anthropic's SDK for JavaScript on /v1/messages, with whole answers and with its helper for streams.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const { default: Anthropic } = await import(createRequire(process.env.COMPAT_MODULES + '/').resolve('@anthropic-ai/sdk'));
const sdk = new Anthropic({ apiKey: process.env.COMPAT_KEY, baseURL: process.env.COMPAT_BASE, maxRetries: 0 });
const user = (content = 'Hi') => [{ role: 'user', content }];
const create = (model, body = {}) => sdk.messages.create({ model, max_tokens: 2048, messages: user(), ...body });
const streamed = (model, body = {}) => sdk.messages.stream({ model, max_tokens: 2048, messages: user(), ...body }).finalMessage();
const weather = { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } };
const ask = { tools: [weather], thinking: { type: 'adaptive' } };
const turns = 'think Which city? | weather {"city": "Oslo"}\nthink And the sea? | say One more. | weather {"city": "Rome"}';

for (const send of [create, streamed]) {
  const a = await send('hello', { system: 'Be brief.' });
  assert.deepEqual([a.content[0].text, a.stop_reason, a.usage.output_tokens], ['Hello, world!', 'end_turn', 4]);
  assert.match(a._request_id ?? 'req_', /^req_/);
}

const messages = user(turns);
for (const [send, city] of [[create, 'Oslo'], [streamed, 'Rome']]) {
  const a = await send('tools-plan', { ...ask, messages });
  assert.deepEqual(a.content.map((b) => b.type), city === 'Oslo' ? ['thinking', 'tool_use'] : ['thinking', 'text', 'tool_use']);
  const call = a.content.at(-1);
  assert.deepEqual([a.stop_reason, call.input, typeof a.content[0].signature], ['tool_use', { city }, 'string']);
  messages.push({ role: 'assistant', content: a.content });
  messages.push(...user([{ type: 'tool_result', tool_use_id: call.id, content: `rain in ${city}` }]));
}
assert.equal((await create('tools-plan', { ...ask, messages })).content[0].text, 'The tool says: rain in Rome');

const withTools = new Anthropic({ apiKey: 'k', baseURL: process.env.COMPAT_TOOLS_BASE, maxRetries: 0 });
for (const send of ['create', 'stream']) {
  const run = async (content, ...tools) => {
    const body = { model: process.env.COMPAT_TOOLS_MODEL, max_tokens: 99, messages: user(content), tools };
    return send === 'create' ? withTools.messages.create(body) : withTools.messages.stream(body).finalMessage();
  };
  const found = await run('browser_search {"query": "paper"}\nsay Cai Lun made it.', { type: 'web_search_20250305', name: 'web_search' });
  assert.deepEqual(found.content.map((b) => b.type), ['server_tool_use', 'web_search_tool_result', 'text']);
  assert.match(found.content[1].content[0].url, /\/page$/);
  const ran = await run('python {"code": "print(6 * 7)"}\nsay It is 42.', { type: 'code_execution_20250825', name: 'code_execution' });
  assert.deepEqual(ran.content.map((b) => b.type), ['server_tool_use', 'code_execution_tool_result', 'text']);
  assert.equal(ran.content[1].content.stdout.trim(), '42');
}

messages[1].content[0].thinking = 'Another thought.';
for (const [fail, kind, status, type] of [
  [() => create('tools-plan', { ...ask, messages }), Anthropic.BadRequestError, 400, 'invalid_request_error'],
  [() => create('none'), Anthropic.NotFoundError, 404, 'not_found_error'],
  [() => create('busy'), Anthropic.InternalServerError, 529, 'overloaded_error'],
  [() => streamed('busy'), Anthropic.InternalServerError, 529, 'overloaded_error'],
  [() => streamed('cut'), Anthropic.APIError, undefined, 'api_error'],
]) {
  const e = await fail().then(() => assert.fail('the call did not fail, want an error'), (e) => e);
  assert.ok(e instanceof kind, String(e));
  assert.deepEqual([e.status, e.error.error.type], [status, type]);
}

assert.equal((await sdk.messages.countTokens({ model: 'hello', messages: user('Twelve bytes') })).input_tokens, 10);
const ids = [];
for await (const m of sdk.models.list()) ids.push(m.id);
assert.ok(ids.includes('hello'));
