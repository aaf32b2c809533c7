// The cases for the AI SDK with its providers for Groq and for compatible servers.
import {
  assert, client, base, laxBase, key, model, load, shapes, formats, normal, pixel, left, asked, row, without, run, failure,
} from './rows.mjs';

const groq = client === 'ai-sdk-groq';
const { embedMany, generateText, streamText, tool, isStepCount, Output, APICallError } = await load('ai');
const { z } = await load('zod');
const { createGroq } = groq ? await load('@ai-sdk/groq') : {};
const { createOpenAICompatible } = groq ? {} : await load('@ai-sdk/openai-compatible');

const open = ({ root = base, apiKey = key, ...more } = {}) => groq
  ? createGroq({ baseURL: root + '/openai/v1', apiKey, ...more })
  : createOpenAICompatible({ name: 'compat', baseURL: root + '/v1', apiKey, includeUsage: true, supportsStructuredOutputs: true, ...more });
const provider = open();
/** Returns options under the name of the provider. */
const special = (options) => ({ providerOptions: groq
  ? { groq: { reasoningFormat: options.reasoning_format, reasoningEffort: options.reasoning_effort } }
  : { compat: options } });
const ask = (scenario, more = {}) => generateText({ model: provider(model(scenario)), prompt: 'Hi', maxRetries: 0, ...more });
/** Reads a stream to its end and returns its parts by type. It throws the error of a stream. */
async function read(scenario, more = {}) {
  const got = { text: '', reasoning: '', calls: [], parts: [] };
  const result = streamText({ model: provider(model(scenario)), prompt: 'Hi', maxRetries: 0, onError() {}, ...more });
  for await (const p of result.fullStream) {
    got.parts.push(p);
    if (p.type === 'text-delta') got.text += p.text;
    if (p.type === 'reasoning-delta') got.reasoning += p.text;
    if (p.type === 'tool-call') got.calls.push(p);
    if (p.type === 'error') throw Object.assign(p.error, { got });
  }
  got.usage = await result.usage;
  return got;
}
const weather = tool({ description: 'The weather of a city', inputSchema: z.object({ city: z.string() }) });
const person = { output: Output.object({ schema: z.object({ name: z.string(), age: z.int() }) }) };
const errorOf = (e) => {
  assert.ok(APICallError.isInstance(e), String(e));
  return JSON.parse(e.responseBody).error;
};

row('A1', async () => {
  const a = await ask('hello');
  assert.equal(a.text, 'Hello, world!');
  assert.equal(a.finishReason, 'stop');
  assert.equal(a.usage.totalTokens, a.usage.inputTokens + a.usage.outputTokens);
  assert.ok(a.usage.outputTokens > 0);
});
row('A2', async () => {
  const a = await generateText({
    model: open({ root: laxBase })(model('hello')), system: 'string', prompt: 'Hi', maxOutputTokens: 10, temperature: 1, topP: 1,
    frequencyPenalty: -2, presencePenalty: 2, stopSequences: ['\n'], seed: 0, tools: { weather }, toolChoice: 'none', maxRetries: 0,
    ...(groq ? { providerOptions: { groq: { user: 'user', parallelToolCalls: true, serviceTier: 'auto', reasoningFormat: 'hidden', reasoningEffort: 'none' } } } : { providerOptions: { compat: { user: 'user', logprobs: true, n: 1, include_reasoning: true, reasoning_format: 'hidden' } } }),
  });
  assert.equal(a.text, 'Hello, world!');
});
row('A3', async () => {
  const a = await generateText({ model: open({ apiKey: `small-${client}` })(model('hello')), prompt: 'Hi', maxRetries: 0 });
  assert.match(a.response.headers['x-request-id'], /^req_[0-9a-z]{26}$/);
  assert.match(a.response.headers['x-ratelimit-limit-tokens'], /^\d+$/);
});
row('A5', async () => {
  const a = await read('echo', { prompt: 'one two three' });
  assert.equal(a.text, 'one two three');
  assert.ok(a.usage.outputTokens > 0);
});
row('A6', async () => {
  const stop = new AbortController();
  const result = streamText({ model: provider(model('hang-middle')), prompt: 'Hi', abortSignal: stop.signal, maxRetries: 0, onError() {} });
  for await (const p of result.fullStream) if (p.type === 'text-delta') stop.abort();
  await left('hang-middle');
});
row('A7', async () => {
  const a = await read('hello');
  assert.ok(a.usage.inputTokens > 0 && a.usage.outputTokens > 0);
});
row('A10', async () => {
  await generateText({ model: provider(model('whole')), maxRetries: 0, messages: [
    { role: 'user', content: [{ type: 'text', text: 'What is it?' }, { type: 'file', data: pixel, mediaType: 'image/png' }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: { city: 'Oslo' } }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_1', toolName: 'weather', output: { type: 'text', value: 'rain' } }] },
  ] });
  const sent = (await asked('whole')).at(-1).messages;
  assert.equal(sent.length, 3);
  assert.equal(sent[0].content[1].image_url.url, pixel);
  assert.equal(sent[2].tool_call_id, 'call_1');
});

const tools = { tools: { weather } };
row('B13', async () => {
  const [call] = (await ask('tool-whole', tools)).toolCalls;
  assert.deepEqual([call.toolName, call.input], ['weather', { city: 'Oslo' }]);
  assert.deepEqual((await read('tool-whole', tools)).calls.map((c) => c.input), [{ city: 'Oslo' }]);
});
row('B14', async () => {
  for (const scenario of ['tool-split', 'tool-repeated']) assert.deepEqual((await read(scenario, tools)).calls.map((c) => c.input), [{ city: 'Oslo' }]);
});
row('B15', async () => {
  for (const scenario of ['tool-parallel', 'tool-zero-index']) {
    const { calls } = await read(scenario, tools);
    assert.deepEqual(calls.map((c) => c.input.city).sort(), ['Oslo', 'Rome']);
    assert.equal(new Set(calls.map((c) => c.toolCallId)).size, 2);
  }
});
row('B16', async () => {
  const looping = { tools: { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `rain in ${city}` }) }, stopWhen: isStepCount(5) };
  assert.equal((await ask('tool-loop', looping)).text, 'The tool says: rain in Oslo');
  assert.equal((await read('tool-loop', looping)).text, 'The tool says: rain in Oslo');
});
row('B17', async () => {
  const of = async (toolChoice) => (await ask('tool-choice', { tools: { weather, tides: tool({ inputSchema: z.object({ city: z.string() }) }) }, toolChoice })).toolCalls[0]?.toolName;
  assert.deepEqual([await of('none'), await of('auto'), await of('required'), await of({ type: 'tool', toolName: 'tides' })], [undefined, undefined, 'weather', 'tides']);
});
row('B18', async () => {
  assert.equal((await read('tool-trailing', tools)).calls.length, 1);
});
row('B19', async () => {
  assert.match(errorOf(await failure(ask('tool-unlisted', tools))).message, /was not in request.tools/);
});
row('B20', async () => {
  const e = errorOf(await failure(ask('tool-malformed', tools)));
  assert.equal(e.code, 'tool_use_failed');
  assert.match(e.failed_generation, /city/);
});

row('C22', async () => {
  const a = await ask('json', { output: Output.json() });
  assert.deepEqual(a.output, { name: 'Ada', age: 36 });
});
row('C23', async () => {
  for (const scenario of ['json', 'json-fenced', 'json-second']) assert.equal((await ask(scenario, person)).output.age, 36);
});
row('C24', async () => {
  for (const [scenario, form] of [['json-broken', { output: Output.json() }], ['json-wrong', person]]) {
    const e = await failure(ask(scenario, form));
    assert.equal(e.statusCode, 400);
    assert.equal(errorOf(e).code, 'json_validate_failed');
    assert.match(errorOf(e).failed_generation, /name/);
  }
});
row('C25', async () => {
  const e = await failure(ask('json', { output: Output.json(), ...special({ reasoning_format: 'raw' }) }));
  assert.equal(e.statusCode, 400);
});
row('C26', async () => {
  assert.deepEqual(JSON.parse((await read('json', person)).text), { name: 'Ada', age: 36 });
});

row('D27', async () => {
  for (const scenario of shapes) for (const [reasoning_format, want] of Object.entries(formats)) {
    const a = await ask(scenario, special({ reasoning_format }));
    assert.deepEqual([normal(a.text), a.reasoningText ?? ''], want, `${scenario} ${reasoning_format}`);
  }
});
row('D28', async () => {
  for (const scenario of shapes) for (const [reasoning_format, want] of Object.entries(formats)) {
    const a = await read(scenario, special({ reasoning_format }));
    assert.deepEqual([normal(a.text), a.reasoning], want, `${scenario} ${reasoning_format}`);
  }
});
row('D30', async () => {
  const a = await ask('reason-field', special({ reasoning_format: 'hidden' }));
  assert.equal(a.reasoningText, undefined);
  assert.ok(a.usage.outputTokenDetails.reasoningTokens > 0);
});
row('D31', async () => {
  await ask('reason-field', groq ? special({ reasoning_effort: 'high' }) : { providerOptions: { compat: { reasoningEffort: 'high' } } });
  assert.ok((await asked('reason-field')).some((r) => r.reasoning_effort === 'high'));
  const e = await failure(ask('reason-field', groq ? special({ reasoning_effort: 'none' }) : { providerOptions: { compat: { reasoningEffort: 'none' } } }));
  assert.match(errorOf(e).message, /low.*medium.*high/);
});

row('E32', async () => {
  for (const scenario of ['crlf', 'bare', 'noisy', 'no-done', 'no-end', 'two-lines', 'split-bytes']) {
    assert.equal((await read(scenario)).text, 'Grüße, 世界!', scenario);
  }
});
row('E33', async () => {
  const text = 'a\u2028b\u2029c\u0085d\n\ne\r\nf\u0000g data: [DONE]\n\n 𝄞"\\';
  assert.equal((await read('echo', { prompt: text })).text, text);
});
row('E34', async () => {
  assert.equal((await read('late:11s')).text, 'Hello, world!');
});
row('E35', async () => {
  assert.equal((await read('big-line')).text.length, 16 * 90_000);
});
row('E36', async () => {
  for (const scenario of ['cut', 'error-frame', 'cut-clean']) {
    const e = await failure(read(scenario));
    assert.match(String(e.message ?? e), /model's server/, scenario);
    assert.match(e.got.text, /^Hello/);
  }
});

row('F38', async () => {
  const e = await failure(generateText({ model: open({ apiKey: 'wrong' })(model('hello')), prompt: 'Hi', maxRetries: 0 }));
  assert.equal(e.statusCode, 401);
  assert.equal(errorOf(e).code, 'invalid_api_key');
});
row('F39', async () => {
  const e = await failure(generateText({ model: provider('nothing'), prompt: 'Hi', maxRetries: 0 }));
  assert.equal(e.statusCode, 404);
  assert.equal(errorOf(e).code, 'model_not_found');
});
row('F41', async () => {
  const e = await failure(ask('hello', { prompt: 'x'.repeat(50 << 20) }));
  assert.equal(e.statusCode, 413);
  assert.equal(errorOf(e).code, 'content_too_large');
});
row('F42', async () => {
  const e = await failure(ask('hello', { temperature: 3 }));
  assert.equal(errorOf(e).param, 'temperature');
});
row('F43', async () => {
  // The key allows one request at a time. The stream uses it until the server rejects the client with retries.
  const stop = new AbortController();
  const slow = open({ apiKey: `slow-${client}` });
  const stream = streamText({ model: slow(model('hang-middle:slow')), prompt: 'Hi', abortSignal: stop.signal, maxRetries: 0, onError() {} });
  const parts = stream.fullStream[Symbol.asyncIterator]();
  for (let p; (p = await parts.next()).value?.type !== 'text-delta'; );
  const rejected = await failure(generateText({ model: slow(model('hello')), prompt: 'Hi', maxRetries: 0 }));
  assert.equal(rejected.statusCode, 429);
  assert.ok(rejected.isRetryable && Number(rejected.responseHeaders['retry-after']) >= 1);
  const patient = open({ apiKey: `slow-${client}`, fetch: async (...a) => {
    const res = await fetch(...a);
    if (res.status === 429) stop.abort();
    return res;
  } });
  const began = Date.now();
  assert.equal((await generateText({ model: patient(model('hello')), prompt: 'Hi', maxRetries: 20 })).text, 'Hello, world!');
  assert.ok(Date.now() - began >= 900);
});
row('F44', async () => {
  const expect = async (scenario, status, tries) => {
    let count = 0;
    const counting = open({ fetch: (...a) => (count++, fetch(...a)) });
    const e = await failure(generateText({ model: counting(model(scenario)), prompt: 'Hi', maxRetries: 1 }));
    assert.equal((e.lastError ?? e).statusCode, status, scenario);
    assert.equal(count, tries, scenario);
  };
  await Promise.all([expect('status:500', 502, 2), expect('status:422', 422, 1), expect('html', 502, 2), expect('garbage', 502, 2), expect('context', 400, 1)]);
});
row('F46', async () => {
  // The request must reach the model before it can be cancelled.
  while (!(await asked('hang')).length) await failure(ask('hang', { abortSignal: AbortSignal.timeout(1000) }));
  await left('hang');
});
without('the AI SDK parses every answer', 'A4');
without('the AI SDK has audio in its own providers', 'G47', 'G48', 'G49');
if (groq) without('Groq\'s provider has no embeddings', 'G50');
else row('G50', async () => {
  const { embeddings, usage } = await embedMany({ model: provider.embeddingModel(model('vector')), values: ['one', 'two of them'], maxRetries: 0 });
  assert.deepEqual(embeddings.map((e) => [e.length, e[0]]), [[8, 3], [8, 11]]);
  assert.equal(usage.tokens, 4);
});
without('the AI SDK drops the vendor\'s fields', 'A8');
without('the AI SDK sends known fields only', 'A9', 'B21', 'D29', 'T1', 'T2', 'T3');
without('the AI SDK asks for one answer', 'T4');
if (groq) without('Groq\'s clients have chat completions only', 'T5');
else row('T5', async () => {
  const { text } = await generateText({ model: provider.completionModel(model('many')), prompt: 'One', maxRetries: 0 });
  assert.equal(text, 'Answer number 0');
});
without('the AI SDK does not list models', 'A11', 'A12', 'F40');
without('only the AI SDK can close its stream', 'E37');
without('the AI SDK sends no time-out', 'F45');
without('these providers have chat completions only', 'R1', 'R2', 'R3', 'R4', 'R5', 'R6');
await run();
