// The base of every JavaScript client: the addresses of the servers, and results as lines of JSON on standard output.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

export const client = process.env.COMPAT_CLIENT;
export const base = process.env.COMPAT_BASE;
export const laxBase = process.env.COMPAT_LAX_BASE;
export const toolsBase = process.env.COMPAT_TOOLS_BASE;
export const key = `key-${client}`;
/** Returns the name of a model for this client alone. Its upstream follows the scenario. */
export const model = (scenario) => `${client}/${scenario}`;
/** Imports a package from the folder of scripts/compat.sh. */
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

/** Plans for the model "tools-plan", one line for each round. */
export const counting = 'say Counting. | python {"code": "print(6 * 7)"}\nsay It is 42.';
export const finding = 'browser_search {"query": "paper"}\nbrowser_open {"id": 0}\nsay Cai Lun 【1†L0-L3】 made it.';
export const mixed = 'python {"code": "1"}\nweather {"city": "Oslo"} | python {"code": "2"}';

export const shapes = ['reason-field', 'reason-content', 'reason-think', 'reason-letters', 'reason-prefilled', 'reason-harmony'];
/** The text and the reasoning of an answer by reasoning_format. */
export const formats = { raw: [`<think>${thought}</think>${answer}`, ''], parsed: [answer, thought], hidden: [answer, ''] };
/** Returns a raw answer without the blanks that models put around the tags. */
export const normal = (s) => s.replace(/<think>\s*/, '<think>').replace(/\s*<\/think>\s*/, '</think>');

/** Waits until a request to the model has been cancelled. */
export async function left(scenario) {
  const res = await fetch(`${process.env.COMPAT_CONTROL}/left?model=${encodeURIComponent(model(scenario))}`);
  assert.equal(res.status, 200, 'no request to the model was cancelled');
}

/** Returns the requests that the model has received, oldest first. */
export async function asked(scenario) {
  return (await fetch(`${process.env.COMPAT_CONTROL}/asked?model=${encodeURIComponent(model(scenario))}`)).json();
}

const rows = [];
/** Registers a case. It fails if fn throws. A string that fn returns is a remark. */
export const row = (id, fn) => rows.push([id, fn]);
/** Reports cases that this client cannot send. */
export const without = (reason, ...ids) => ids.forEach((id) => print({ case: id, without: reason }));

const print = (r) => process.stdout.write(JSON.stringify(r) + '\n');

/** Runs the cases, four at a time. */
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
/** Returns the error with which a promise must end. */
export async function failure(promise) {
  try {
    await promise;
  } catch (e) {
    return e;
  }
  throw new Error('the call did not fail, want an error');
}
export { assert };
