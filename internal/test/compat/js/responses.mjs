// The cases of the Responses API, which only OpenAI's SDK has.
import { assert, counting, finding, model, pixel, weather, row, collect, failure } from './rows.mjs';

const flat = { type: 'function', strict: false, ...weather.function };
const turns = 'think Which city? | weather {"city": "Oslo"}\nthink And the sea? | say One more. | weather {"city": "Rome"}';
const kinds = (response) => response.output.map((item) => item.type);

/** Registers the cases of an SDK. tools is the same SDK for the server with built-in tools. */
export function responses(sdk, tools, zodTextFormat, z) {
  const respond = (scenario, body = {}, client = sdk) => client.responses.create({ model: model(scenario), input: 'Hi', ...body });
  /** Returns the response that the SDK's helper joins from the events of a stream. */
  const streamed = (scenario, body = {}, client = sdk) => client.responses.stream({ model: model(scenario), input: 'Hi', ...body }).finalResponse();

  row('R1', async () => {
    const a = await respond('hello', {
      store: true, metadata: { a: 'b' }, instructions: 'Be brief.', max_output_tokens: 50, temperature: 0.5, truncation: 'auto',
      text: { verbosity: 'low' }, prompt_cache_key: 'k', safety_identifier: 's', top_p: 0.9,
    });
    assert.equal(a.output_text, 'Hello, world!');
    assert.deepEqual([a.status, a.metadata, a.store], ['completed', { a: 'b' }, false]);
    assert.equal(a.usage.total_tokens, a.usage.input_tokens + a.usage.output_tokens);
    const events = await collect(await respond('echo', { input: 'one two three', stream: true }));
    assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
    assert.equal((await streamed('echo', { input: 'one two three' })).output_text, 'one two three');
    const input = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, { type: 'input_image', image_url: pixel, detail: 'low' }] },
    ];
    assert.equal((await respond('whole', { input })).output_text, 'Hello, world!');
  });
  row('R2', async () => {
    const input = [{ role: 'user', content: turns }];
    const ask = { input, include: ['reasoning.encrypted_content'], tools: [flat] };
    for (const [city, send] of [['Oslo', respond], ['Rome', streamed]]) {
      const a = await send('tools-plan', ask);
      assert.deepEqual(kinds(a), city === 'Oslo' ? ['reasoning', 'function_call'] : ['reasoning', 'message', 'function_call']);
      assert.ok(a.output[0].encrypted_content && a.output.at(-1).arguments.includes(city));
      input.push(...a.output, { type: 'function_call_output', call_id: a.output.at(-1).call_id, output: `rain in ${city}` });
    }
    assert.equal((await respond('tools-plan', ask)).output_text, 'The tool says: rain in Rome');
    input[1].encrypted_content = input[1].encrypted_content.slice(1);
    const e = await failure(respond('tools-plan', ask));
    assert.deepEqual([e.status, e.param], [400, 'input[1].encrypted_content']);
    const two = await streamed('tool-parallel', { tools: [flat] });
    assert.deepEqual(two.output.map((c) => c.arguments), ['{"city":"Oslo"}', '{"city":"Rome"}']);
  });
  row('R3', async () => {
    const offered = [
      { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: x' } },
      { type: 'namespace', name: 'agents', description: 'Agents.', tools: [{ type: 'function', name: 'wait', parameters: { type: 'object' } }] },
    ];
    const ask = { input: 'apply_patch {"input": "*** \\"a\\""} | agents__wait {"ms": 1}', tools: offered };
    for (const send of [respond, streamed]) {
      const [patch, call] = (await send('tools-plan', ask)).output;
      assert.deepEqual([patch.type, patch.name, patch.input], ['custom_tool_call', 'apply_patch', '*** "a"']);
      assert.deepEqual([call.type, call.name, call.namespace], ['function_call', 'wait', 'agents']);
      const input = [
        { role: 'user', content: ask.input }, patch, call,
        { type: 'custom_tool_call_output', call_id: patch.call_id, output: 'patched' },
        { type: 'function_call_output', call_id: call.call_id, output: 'waited' },
      ];
      assert.equal((await send('tools-plan', { input, tools: offered })).output_text, 'The tool says: waited');
    }
  });
  row('R4', async () => {
    const format = zodTextFormat(z.object({ name: z.string(), age: z.number() }), 'person');
    const a = await sdk.responses.parse({ model: model('json'), input: 'Hi', text: { format } });
    assert.deepEqual(a.output_parsed, { name: 'Ada', age: 36 });
    assert.deepEqual((await streamed('json', { text: { format } })).output_parsed, { name: 'Ada', age: 36 });
    assert.match((await respond('json', { text: { format: { type: 'json_object' } } })).output_text, /^{"name"/);
  });
  row('R5', async () => {
    const search = {
      input: finding, tools: [{ type: 'web_search' }], include: ['web_search_call.action.sources'], tool_choice: { type: 'web_search' },
    };
    const code = { input: counting, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }], include: ['code_interpreter_call.outputs'] };
    for (const send of [respond, streamed]) {
      const found = await send('tools-plan', search, tools);
      assert.deepEqual(kinds(found), ['web_search_call', 'web_search_call', 'message']);
      assert.match(found.output[0].action.sources[0].url, /\/page$/);
      const note = found.output[2].content[0].annotations[0];
      assert.ok(note.url.endsWith('/page') && found.output_text.slice(note.start_index, note.end_index).startsWith('【1†'));
      const ran = await send('tools-plan', code, tools);
      assert.deepEqual(kinds(ran), ['message', 'code_interpreter_call', 'message']);
      assert.equal(ran.output[1].code, 'print(6 * 7)');
      assert.equal(ran.output[1].outputs[0].logs.trim(), '42');
    }
    const e = await failure(respond('hello', code));
    assert.deepEqual([e.status, e.code], [400, 'tool_unavailable']);
  });
  row('R6', async () => {
    const a = await respond('length');
    assert.deepEqual([a.status, a.incomplete_details.reason], ['incomplete', 'max_output_tokens']);
    assert.equal((await streamed('length')).status, 'incomplete');
    const last = (await collect(await respond('error-frame', { stream: true }))).at(-1);
    assert.deepEqual([last.type, last.response.error.code, last.response.output[0].status], ['response.failed', 'server_error', 'incomplete']);
    for (const [scenario, body, code] of [
      ['hello', { previous_response_id: 'resp_1' }, 'invalid_option'], ['hello', { background: true }, 'invalid_option'],
      ['context', {}, 'context_length_exceeded'],
    ]) {
      const e = await failure(respond(scenario, body));
      assert.deepEqual([e.status, e.code], [400, code]);
    }
    assert.equal((await sdk.responses.inputTokens.count({ model: model('hello'), input: 'Twelve bytes' })).input_tokens, 10);
  });
}
