// What every JavaScript client needs: where the server is, and rows of results
// as JSON lines on standard output.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

export const client = process.env.COMPAT_CLIENT;
export const base = process.env.COMPAT_BASE;
export const laxBase = process.env.COMPAT_LAX_BASE;
export const toolsBase = process.env.COMPAT_TOOLS_BASE;
export const key = `key-${client}`;
/** The name of a model whose upstream plays the scenario, for this client alone. */
export const model = (scenario) => `${client}/${scenario}`;
/** Packages lie where scripts/compat.sh put them. */
export const load = (name) => import(createRequire(process.env.COMPAT_MODULES + '/').resolve(name));

export const thought = 'Okay, the user asks for a fruit. 🍎';
export const answer = 'An apple – naturally.';
export const pixel = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const user = (text = 'Hi') => [{ role: 'user', content: text }];
export const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
export const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

/** What the model "tools-plan" is to do, a line for each round. */
export const counting = 'say Counting. | python {"code": "print(6 * 7)"}\nsay It is 42.';
export const finding = 'browser_search {"query": "paper"}\nbrowser_open {"id": 0}\nsay Cai Lun 【1†L0-L3】 made it.';
export const mixed = 'python {"code": "1"}\nweather {"city": "Oslo"} | python {"code": "2"}';

/** Waits until the upstream of a model was left by its client. */
export async function left(scenario) {
  const res = await fetch(`${process.env.COMPAT_CONTROL}/left?model=${encodeURIComponent(model(scenario))}`);
  assert.equal(res.status, 200, 'the upstream was not left');
}

/** What the upstream of a model was asked, oldest first. */
export async function asked(scenario) {
  return (await fetch(`${process.env.COMPAT_CONTROL}/asked?model=${encodeURIComponent(model(scenario))}`)).json();
}

const rows = [];
/** A case: it fails when fn throws; a string that it returns is a remark. */
export const row = (id, fn) => rows.push([id, fn]);
/** Cases that this client has no way to ask for. */
export const without = (reason, ...ids) => ids.forEach((id) => print({ case: id, without: reason }));

const print = (r) => process.stdout.write(JSON.stringify(r) + '\n');

/** Runs the rows, a few at a time. */
export async function run() {
  const one = async () => {
    for (let next; (next = rows.shift()); ) {
      const [id, fn] = next;
      try {
        print({ case: id, ok: true, remark: (await fn()) ?? '' });
      } catch (e) {
        print({ case: id, ok: false, error: String(e?.stack ?? e).slice(0, 2000) });
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, one));
  process.exit(0);
}

export const collect = async (stream) => {
  const chunks = [];
  for await (const c of stream) chunks.push(c);
  return chunks;
};
export const contentOf = (chunks) => chunks.map((c) => c.choices[0]?.delta?.content ?? '').join('');
export const reasoningOf = (chunks) => chunks.map((c) => c.choices[0]?.delta?.reasoning ?? '').join('');
/** Joins the deltas of tool calls as an application does. */
export function callsOf(chunks) {
  const calls = [];
  for (const c of chunks) {
    for (const d of c.choices[0]?.delta?.tool_calls ?? []) {
      const call = (calls[d.index] ??= { id: d.id, name: d.function.name, arguments: '' });
      assert.ok(!d.id || d.id === call.id, 'a call changed its id');
      call.arguments += d.function.arguments ?? '';
    }
  }
  return calls;
}
/** The error that a promise must end with. */
export async function failure(promise) {
  try {
    await promise;
  } catch (e) {
    return e;
  }
  throw new Error('it should have failed');
}
export { assert };
