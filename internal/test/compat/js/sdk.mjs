// The cases for the official JavaScript SDKs of Groq and OpenAI, which come from one generator.
import {
  assert, client, base, laxBase, toolsBase, key, model, counting, finding, mixed, without, load, shapes, formats, normal, pixel, user, weather, person,
  left, asked, row, run, collect, contentOf, reasoningOf, callsOf, failure,
} from './rows.mjs';
import { responses } from './responses.mjs';

const groq = client === 'groq-sdk';
const { default: SDK } = await load(groq ? 'groq-sdk' : 'openai');
const { z } = await load('zod');
const at = (root) => (groq ? root : root + '/v1');
const open = (options = {}) => new SDK({ apiKey: key, baseURL: at(base), maxRetries: 0, ...options });
const sdk = open();
const create = (body, options) => sdk.chat.completions.create({ messages: user(), ...body }, options);
const format = { type: 'json_schema', json_schema: { name: 'person', schema: person, strict: true } };

row('A1', async () => {
  const a = await create({ model: model('hello') });
  assert.equal(a.choices[0].message.content, 'Hello, world!');
  assert.equal(a.choices[0].finish_reason, 'stop');
  assert.equal(a.object, 'chat.completion');
  assert.equal(a.usage.total_tokens, a.usage.prompt_tokens + a.usage.completion_tokens);
});
row('A2', async () => {
  const a = await open({ baseURL: at(laxBase) }).chat.completions.create({
    model: model('hello'), messages: [{ role: 'system', content: 'string', name: 'name' }, ...user()],
    frequency_penalty: -2, presence_penalty: 2, function_call: 'none', functions: [{ name: 'name', description: 'd', parameters: { foo: 'bar' } }],
    include_reasoning: true, reasoning_format: 'hidden', reasoning_effort: 'none', logit_bias: { foo: 0 }, logprobs: true, top_logprobs: 0,
    max_completion_tokens: 0, max_tokens: 0, metadata: { foo: 'string' }, n: 1, parallel_tool_calls: true, response_format: { type: 'text' },
    seed: 0, service_tier: 'auto', stop: '\n', store: true, temperature: 1, top_p: 1, user: 'user', tool_choice: 'none', tools: [weather],
    disable_tool_validation: true, citation_options: 'enabled', exclude_domains: ['string'], documents: [{ source: { type: 'text', text: 'text' } }],
    modalities: ['text'], prediction: { type: 'content', content: 'x' }, verbosity: 'low', prompt_cache_key: 'x', safety_identifier: 'x',
  });
  assert.equal(a.choices[0].message.content, 'Hello, world!');
});
row('A3', async () => {
  const { data, response } = await open({ apiKey: `small-${client}` }).chat.completions.create({ model: model('hello'), messages: user() }).withResponse();
  assert.match(response.headers.get('x-request-id'), /^req_[0-9a-z]{26}$/);
  assert.match(response.headers.get('x-ratelimit-limit-tokens'), /^\d+$/);
  assert.match(response.headers.get('x-ratelimit-remaining-requests'), /^\d+$/);
  assert.match(response.headers.get('x-ratelimit-reset-tokens'), /^[\d.]+(ms|s)$/);
  if (!groq) assert.equal(data._request_id, response.headers.get('x-request-id'));
});
row('A4', async () => {
  const response = await create({ model: model('hello') }).asResponse();
  assert.equal((await response.json()).choices[0].message.content, 'Hello, world!');
});
row('A5', async () => {
  const chunks = await collect(await create({ model: model('echo'), messages: user('one two three'), stream: true }));
  assert.equal(contentOf(chunks), 'one two three');
  assert.equal(new Set(chunks.map((c) => c.id)).size, 1);
  assert.equal(chunks[0].choices[0].delta.role, 'assistant');
  assert.ok(chunks.every((c) => c.choices.length === 1 && c.object === 'chat.completion.chunk'));
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
});
row('A6', async () => {
  for await (const c of await create({ model: model('hang-middle'), stream: true })) if (c.choices[0].delta.content) break;
  await left('hang-middle');
});
row('A7', async () => {
  const chunks = await collect(await create({ model: model('hello'), stream: true, stream_options: { include_usage: true } }));
  assert.deepEqual(chunks.at(-1).choices, []);
  assert.ok(chunks.at(-1).usage.completion_tokens > 0);
  assert.ok(chunks.slice(0, -1).every((c) => c.usage === null));
});
row('A8', async () => {
  const chunks = await collect(await create({ model: model('hello'), stream: true, seed: 7 }));
  assert.match(chunks[0].x_groq.id, /^req_/);
  assert.equal(chunks[0].x_groq.seed, 7);
  assert.ok(chunks.at(-1).x_groq.usage.queue_time > 0);
  assert.ok(chunks.slice(1, -1).every((c) => !c.x_groq));
  const a = await create({ model: model('hello') });
  assert.match(a.x_groq.id, /^req_/);
});
row('A9', async () => {
  const a = await create({ model: model('hello'), never_heard_of: { deep: [1] }, cache_control: null });
  assert.equal(a.choices[0].message.content, 'Hello, world!');
});
row('A10', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  await create({ model: model('whole'), messages: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is it?' }, { type: 'image_url', image_url: { url: pixel, detail: 'low' } }] },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    { role: 'assistant', content: 'A pixel.', refusal: null, annotations: [] },
    { role: 'user', content: [{ type: 'text', text: 'Sure?' }] },
  ] });
  const sent = (await asked('whole')).at(-1).messages;
  assert.equal(sent.length, 6);
  assert.equal(sent[1].content[1].image_url.url, pixel);
  assert.equal(sent[2].tool_calls[0].function.name, 'weather');
  assert.equal(sent[3].tool_call_id, 'call_1');
});
row('A11', async () => {
  assert.ok((await sdk.models.list()).data.some((m) => m.id === model('hello')));
  const m = await sdk.models.retrieve(model('hello'));
  assert.equal(m.id, model('hello'));
  assert.equal(m.object, 'model');
});
row('A12', async () => {
  const e = await failure(sdk.models.delete(model('hello')));
  assert.equal(e.status, 405);
  assert.ok(JSON.stringify(e.error).includes('method_not_allowed'));
});

const tools = (scenario, more = {}) => create({ model: model(scenario), tools: [weather], ...more });
row('B13', async () => {
  const a = await tools('tool-whole');
  assert.equal(a.choices[0].finish_reason, 'tool_calls');
  assert.equal(a.choices[0].message.content, null);
  assert.deepEqual(JSON.parse(a.choices[0].message.tool_calls[0].function.arguments), { city: 'Oslo' });
  const [call] = callsOf(await collect(await tools('tool-whole', { stream: true })));
  assert.equal(call.arguments, '{"city":"Oslo"}');
});
row('B14', async () => {
  for (const scenario of ['tool-split', 'tool-repeated']) {
    const [call] = callsOf(await collect(await tools(scenario, { stream: true })));
    assert.deepEqual(JSON.parse(call.arguments), { city: 'Oslo' });
    assert.ok(call.id);
    if (groq) continue;
    const whole = await sdk.chat.completions.stream({ model: model(scenario), messages: user(), tools: [weather] }).finalChatCompletion();
    assert.deepEqual(JSON.parse(whole.choices[0].message.tool_calls[0].function.arguments), { city: 'Oslo' });
  }
});
row('B15', async () => {
  for (const scenario of ['tool-parallel', 'tool-zero-index']) {
    const calls = callsOf(await collect(await tools(scenario, { stream: true })));
    assert.deepEqual(calls.map((c) => JSON.parse(c.arguments).city), ['Oslo', 'Rome']);
    assert.equal(new Set(calls.map((c) => c.id)).size, 2);
  }
});
row('B16', async () => {
  if (!groq) {
    const text = await sdk.chat.completions.runTools({
      model: model('tool-loop'), messages: user(),
      tools: [{ type: 'function', function: { ...weather.function, parse: JSON.parse, function: ({ city }) => `rain in ${city}` } }],
    }).finalContent();
    assert.equal(text, 'The tool says: rain in Oslo');
    return;
  }
  const messages = user();
  const first = await create({ model: model('tool-loop'), messages, tools: [weather] });
  messages.push(first.choices[0].message, { role: 'tool', tool_call_id: first.choices[0].message.tool_calls[0].id, content: 'rain in Oslo' });
  const second = await create({ model: model('tool-loop'), messages, tools: [weather] });
  assert.equal(second.choices[0].message.content, 'The tool says: rain in Oslo');
});
row('B17', async () => {
  const two = [weather, { type: 'function', function: { ...weather.function, name: 'tides' } }];
  const of = async (tool_choice) => (await tools('tool-choice', { tools: two, tool_choice })).choices[0].message;
  assert.equal((await of('none')).tool_calls, undefined);
  assert.equal((await of('auto')).tool_calls, undefined);
  assert.equal((await of('required')).tool_calls[0].function.name, 'weather');
  assert.equal((await of({ type: 'function', function: { name: 'tides' } })).tool_calls[0].function.name, 'tides');
});
row('B18', async () => {
  const chunks = await collect(await tools('tool-trailing', { stream: true }));
  assert.deepEqual(callsOf(chunks).map((c) => c.arguments), ['{"city":"Oslo"}']);
  assert.equal(chunks.filter((c) => c.choices[0].delta.tool_calls?.[0]?.id).length, 1);
});
row('B19', async () => {
  const e = await failure(tools('tool-unlisted'));
  assert.ok(e instanceof SDK.BadRequestError && /was not in request.tools/.test(e.message), e.message);
  const a = await tools('tool-unlisted', { disable_tool_validation: true });
  assert.equal(a.choices[0].message.tool_calls[0].function.name, 'launch_rocket');
});
row('B20', async () => {
  const e = await failure(tools('tool-malformed'));
  assert.ok(e instanceof SDK.BadRequestError, e);
  const body = e.error.error ?? e.error;
  assert.equal(body.code, 'tool_use_failed');
  assert.match(body.failed_generation, /city/);
});
row('B21', async () => {
  for (const type of ['code_interpreter', 'browser_search']) {
    const e = await failure(create({ model: model('hello'), tools: [{ type }] }));
    assert.equal((e.error.error ?? e.error).code, 'tool_unavailable');
    assert.equal(e.status, 400);
  }
});

const runTools = (plan, body) => open({ baseURL: at(toolsBase) }).chat.completions.create({ model: model('tools-plan'), messages: user(plan), ...body });
row('T1', async () => {
  const tools = [{ type: 'code_interpreter' }];
  const { message } = (await runTools(counting, { tools })).choices[0];
  const chunks = await collect(await runTools(counting, { tools, stream: true }));
  for (const [said, executed] of [[message.content, message.executed_tools], [contentOf(chunks), chunks.flatMap((c) => c.choices[0].delta.executed_tools ?? [])]]) {
    assert.equal(said, 'Counting.\n\nIt is 42.');
    assert.equal(executed.length, 1);
    const [{ index, type, name, output, arguments: args }] = executed;
    assert.deepEqual({ index, type, name, output: output.trim(), args }, { index: 0, type: 'function', name: 'python', output: '42', args: '{"code": "print(6 * 7)"}' });
  }
  assert.ok(!message.tool_calls && chunks.every((c) => !c.choices[0].delta.tool_calls));
});
row('T2', async () => {
  const { message } = (await runTools(finding, { tools: [{ type: 'browser_search' }], tool_choice: { type: 'browser_search' } })).choices[0];
  const [search, page] = message.executed_tools;
  assert.equal(search.search_results.results[0].title, 'Paper');
  assert.match(page.output, /Cai Lun/);
  assert.match(page.browser_results[0].url, /\/page$/);
  assert.match(message.annotations[0].url_citation.url, /\/page$/);
});
row('T3', async () => {
  const { message, finish_reason: finish } = (await runTools(mixed, { tools: [{ type: 'code_interpreter' }, weather] })).choices[0];
  assert.deepEqual(message.tool_calls.map((c) => c.function.name), ['weather']);
  assert.equal(message.executed_tools.length, 1);
  assert.equal(finish, 'tool_calls');
});
row('T4', async () => {
  const a = await create({ model: model('many'), n: 2, logprobs: true, top_logprobs: 1 });
  assert.deepEqual(a.choices.map((c) => c.message.content), ['Answer number 0', 'Answer number 1']);
  assert.deepEqual(a.choices[1].logprobs.content.map((t) => t.token), ['Answer', ' number', ' 1']);
  const said = ['', ''];
  for await (const c of await create({ model: model('many'), n: 2, stream: true })) for (const choice of c.choices) said[choice.index] += choice.delta.content ?? '';
  assert.deepEqual(said, ['Answer number 0', 'Answer number 1']);
});
if (groq) without('Groq\'s clients have chat completions only', 'T5');
else row('T5', async () => {
  const a = await sdk.completions.create({ model: model('many'), prompt: ['One', 'Two'], logprobs: 1 });
  assert.deepEqual(a.choices.map((c) => c.text), ['Answer number 0', 'Answer number 1']);
  assert.equal(a.object, 'text_completion');
  const chunks = await collect(await sdk.completions.create({ model: model('many'), prompt: 'One', stream: true }));
  assert.equal(chunks.map((c) => c.choices[0].text).join(''), 'Answer number 0');
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
});

row('C22', async () => {
  const a = await create({ model: model('json'), response_format: { type: 'json_object' } });
  assert.deepEqual(JSON.parse(a.choices[0].message.content), { name: 'Ada', age: 36 });
});
row('C23', async () => {
  const Person = z.object({ name: z.string(), age: z.int() });
  for (const scenario of ['json', 'json-fenced', 'json-second']) {
    if (groq) {
      const a = await create({ model: model(scenario), response_format: format });
      assert.equal(Person.parse(JSON.parse(a.choices[0].message.content)).age, 36);
      continue;
    }
    const { zodResponseFormat } = await load('openai/helpers/zod');
    const a = await sdk.chat.completions.parse({ model: model(scenario), messages: user(), response_format: zodResponseFormat(Person, 'person') });
    assert.equal(a.choices[0].message.parsed.age, 36);
  }
});
row('C24', async () => {
  for (const [scenario, response_format] of [['json-broken', { type: 'json_object' }], ['json-wrong', format]]) {
    const e = await failure(create({ model: model(scenario), response_format }));
    assert.equal(e.status, 400);
    assert.equal((e.error.error ?? e.error).code, 'json_validate_failed');
    assert.match((e.error.error ?? e.error).failed_generation, /name/);
  }
});
row('C25', async () => {
  const e = await failure(create({ model: model('json'), reasoning_format: 'raw', response_format: { type: 'json_object' } }));
  assert.equal(e.status, 400);
  assert.match(e.message, /raw/);
});
row('C26', async () => {
  const chunks = await collect(await create({ model: model('json'), response_format: format, stream: true }));
  assert.deepEqual(JSON.parse(contentOf(chunks)), { name: 'Ada', age: 36 });
});

row('D27', async () => {
  for (const scenario of shapes) for (const [reasoning_format, [content, reasoning]] of Object.entries(formats)) {
    const { message } = (await create({ model: model(scenario), reasoning_format })).choices[0];
    assert.deepEqual([normal(message.content), message.reasoning ?? ''], [content, reasoning], `${scenario} ${reasoning_format}`);
  }
});
row('D28', async () => {
  for (const scenario of shapes) for (const [reasoning_format, [content, reasoning]] of Object.entries(formats)) {
    const chunks = await collect(await create({ model: model(scenario), reasoning_format, stream: true }));
    assert.deepEqual([normal(contentOf(chunks)), reasoningOf(chunks)], [content, reasoning], `${scenario} ${reasoning_format}`);
  }
});
row('D29', async () => {
  const e = await failure(create({ model: model('reason-field'), reasoning_format: 'parsed', include_reasoning: true }));
  assert.equal(e.status, 400);
  assert.match(e.message, /reasoning_format/);
});
row('D30', async () => {
  const a = await create({ model: model('reason-field'), include_reasoning: false });
  assert.equal(a.choices[0].message.reasoning, undefined);
  assert.ok(a.usage.completion_tokens_details.reasoning_tokens > 0);
});
row('D31', async () => {
  await create({ model: model('reason-field'), reasoning_effort: 'high' });
  assert.ok((await asked('reason-field')).some((r) => r.reasoning_effort === 'high'));
  const e = await failure(create({ model: model('reason-field'), reasoning_effort: 'max' }));
  assert.equal(e.status, 400);
  assert.match(e.message, /low.*medium.*high/);
});

row('E32', async () => {
  for (const scenario of ['crlf', 'bare', 'noisy', 'no-done', 'no-end', 'two-lines', 'split-bytes']) {
    const chunks = await collect(await create({ model: model(scenario), stream: true }));
    assert.equal(contentOf(chunks), 'Grüße, 世界!', scenario);
  }
});
row('E33', async () => {
  const text = 'a\u2028b\u2029c\u0085d\n\ne\r\nf\u0000g data: [DONE]\n\n 𝄞"\\';
  assert.equal(contentOf(await collect(await create({ model: model('echo'), messages: user(text), stream: true }))), text);
});
row('E34', async () => {
  const chunks = await collect(await create({ model: model('late:11s'), stream: true }));
  assert.equal(contentOf(chunks), 'Hello, world!');
});
row('E35', async () => {
  const chunks = await collect(await create({ model: model('big-line'), stream: true }));
  assert.equal(contentOf(chunks).length, 16 * 90_000);
});
row('E36', async () => {
  for (const scenario of ['cut', 'error-frame', 'cut-clean']) {
    const got = [];
    const e = await failure((async () => {
      for await (const c of await create({ model: model(scenario), stream: true })) got.push(c);
    })());
    assert.ok(e instanceof SDK.APIError, `${scenario}: ${e}`);
    assert.match(contentOf(got), /^Hello/);
    assert.ok(/model's server/.test(JSON.stringify(e.error ?? e.message)), `${scenario}: ${e.message}`);
  }
});
row('E37', async () => {
  const stream = await create({ model: model('hello'), stream: true });
  await collect(stream);
  stream.controller.abort();
  stream.controller.abort();
});

const codeOf = (e) => (e.error?.error ?? e.error)?.code;
row('F38', async () => {
  const e = await failure(open({ apiKey: 'wrong' }).chat.completions.create({ model: model('hello'), messages: user() }));
  assert.ok(e instanceof SDK.AuthenticationError);
  assert.equal(codeOf(e), 'invalid_api_key');
  if (!groq) assert.match(e.requestID, /^req_/);
});
row('F39', async () => {
  const e = await failure(create({ model: 'nothing' }));
  assert.ok(e instanceof SDK.NotFoundError);
  assert.equal(codeOf(e), 'model_not_found');
  if (!groq) assert.deepEqual([e.type, e.param], ['invalid_request_error', 'model']);
});
row('F40', async () => {
  const e = await failure(sdk.get((groq ? '/openai/v1' : '') + '/nowhere'));
  assert.ok(e instanceof SDK.NotFoundError);
  assert.equal(codeOf(e), 'unknown_url');
});
row('F41', async () => {
  const e = await failure(create({ model: model('hello'), messages: user('x'.repeat(50 << 20)) }));
  assert.equal(e.status, 413);
  assert.equal(codeOf(e), 'content_too_large');
});
row('F42', async () => {
  for (const [body, param] of [[{ messages: [] }, 'messages'], [{ temperature: 3 }, 'temperature'], [{ n: 2 }, 'n'], [{ messages: [{ role: 'wizard', content: 'x' }] }, 'messages[0].role']]) {
    const e = await failure(create({ model: model('hello'), ...body }));
    assert.ok(e instanceof SDK.BadRequestError);
    assert.equal((e.error.error ?? e.error).param, param);
  }
});
row('F43', async () => {
  // The key allows one request at a time. The stream uses it until the server rejects the client with retries.
  const stream = await open({ apiKey: `slow-${client}` }).chat.completions.create({ model: model('hang-middle:slow'), messages: user(), stream: true });
  const rest = collect(stream);
  const rejected = await failure(open({ apiKey: `slow-${client}` }).chat.completions.create({ model: model('hello'), messages: user() }));
  assert.ok(rejected instanceof SDK.RateLimitError);
  assert.ok(Number(rejected.headers.get('retry-after')) >= 1);
  const slow = open({ apiKey: `slow-${client}`, maxRetries: 20, fetch: async (...a) => {
    const res = await fetch(...a);
    if (res.status === 429) stream.controller.abort();
    return res;
  } });
  const began = Date.now();
  const a = await slow.chat.completions.create({ model: model('hello'), messages: user() });
  assert.equal(a.choices[0].message.content, 'Hello, world!');
  assert.ok(Date.now() - began >= 900, 'the client did not wait for retry-after');
  await rest;
});
row('F44', async () => {
  const expect = async (scenario, cls, status, retries) => {
    let tries = [];
    const counting = open({ maxRetries: 2, fetch: (url, init) => {
      tries.push(new Headers(init.headers).get('x-stainless-retry-count'));
      return fetch(url, init);
    } });
    const e = await failure(counting.chat.completions.create({ model: model(scenario), messages: user() }));
    assert.ok(e instanceof cls && e.status === status, `${scenario}: ${e.status} ${e}`);
    assert.deepEqual(tries, ['0', '1', '2'].slice(0, retries + 1), scenario);
    assert.ok(!JSON.stringify(e.error).includes('127.0.0.1'), 'the error reveals an internal address');
  };
  await Promise.all([
    expect('status:500', SDK.InternalServerError, 502, 2), expect('status:503', SDK.InternalServerError, 503, 2),
    expect('status:401', SDK.InternalServerError, 502, 0), expect('status:404', SDK.InternalServerError, 502, 0),
    expect('status:422', SDK.UnprocessableEntityError, 422, 0), expect('html', SDK.InternalServerError, 502, 2), expect('garbage', SDK.InternalServerError, 502, 2),
    expect('context', SDK.BadRequestError, 400, 0),
  ]);
});
row('F45', async () => {
  const running = await create({ model: model('narrow'), stream: true });
  const e = await failure(create({ model: model('narrow') }, { timeout: 500 }));
  assert.ok(e instanceof SDK.APIConnectionTimeoutError || e.status === 504, String(e));
  await new Promise((r) => setTimeout(r, 5000)); // the server checks every few seconds whether the client is connected
  running.controller.abort();
  await create({ model: model('narrow'), max_tokens: 7 });
  assert.equal((await asked('hang-once')).length, 2, 'a request without a caller reached the model');
});
row('F46', async () => {
  while (!(await asked('hang')).length) { // the request must reach the model before it can be cancelled
    const e = await failure(create({ model: model('hang') }, { timeout: 1000 }));
    assert.ok(e instanceof SDK.APIConnectionTimeoutError || e.status === 504, String(e));
  }
  await left('hang');
});
/** A WAV file with two seconds of 4 000 samples of two bytes. */
const wav = (() => {
  const b = Buffer.alloc(44 + 16000, '\x00\x40', 'latin1');
  Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x02\0\x10\0data', 'latin1').copy(b);
  for (const [at, n] of [[4, 16036], [24, 4000], [28, 8000], [40, 16000]]) b.writeUInt32LE(n, at);
  return b;
})();
const file = (data) => new File([data], 'a.wav');
row('G47', async () => {
  const hear = (more) => sdk.audio.transcriptions.create({ model: model('ears'), file: file(wav), ...more });
  assert.equal((await hear()).text, 'one two');
  assert.equal(await hear({ response_format: 'text' }), 'one two\n');
  const a = await hear({ response_format: 'verbose_json', language: 'en', prompt: 'Ada', temperature: 0.5, timestamp_granularities: ['word', 'segment'] });
  assert.deepEqual(a.words.map((w) => w.word), ['one', 'two']);
  assert.equal(a.segments.length, 1);
  assert.equal((await sdk.audio.translations.create({ model: model('ears'), file: file(wav) })).text, 'one two');
});
row('G48', async () => {
  if (groq) {
    const a = await sdk.audio.transcriptions.create({ model: model('ears'), url: 'data:audio/wav;base64,' + wav.toString('base64') });
    assert.equal(a.text, 'one two');
  }
  const e = await failure(sdk.audio.transcriptions.create({ model: model('ears'), file: file('#EXTM3U') }));
  assert.ok(e.status === 400 && /by its content/.test(e.message), String(e));
});
row('G49', async () => {
  const res = await sdk.audio.speech.create({ model: model('voice'), input: 'one two three', voice: 'alloy', response_format: 'mp3' });
  assert.equal(await res.text(), 'one two three');
  assert.equal(res.headers.get('content-type'), 'audio/mpeg');
});
row('G50', async () => {
  const request = { model: model('vector'), input: ['one', 'two of them'] };
  const numbers = await sdk.embeddings.create({ ...request, encoding_format: 'float' });
  assert.deepEqual(numbers.data.map((e) => [e.embedding.length, e.embedding[0]]), [[8, 3], [8, 11]]);
  const byDefault = await sdk.embeddings.create(request);
  assert.deepEqual(byDefault.data.map((e) => Array.from(e.embedding)), numbers.data.map((e) => e.embedding));
  assert.equal(numbers.usage.prompt_tokens, 4);
});
if (groq) {
  without('Groq\'s clients have chat completions only', 'R1', 'R2', 'R3', 'R4', 'R5', 'R6');
} else {
  const { zodTextFormat } = await load('openai/helpers/zod');
  responses(sdk, open({ baseURL: at(toolsBase) }), zodTextFormat, z);
}
await run();
