// Keys and the usage of completions: a chart by day, and totals.
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { json, text as errorText } from "../api";
import { Notice } from "../parts";
import { count } from "./format";

interface Key {
  name: string;
  admin: boolean;
  models: string[];
  rpm: number;
  rpd: number;
  tpm: number;
  tpd: number;
  concurrency: number;
}

interface Row {
  key: string;
  model: string;
  day: string;
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  audio_seconds: number;
  cost?: number;
}

interface Answer {
  keys: Key[];
  from: string;
  to: string;
  usage: Row[];
}

/** names are the names of the keys; empty until they are fetched. */
export const names = signal<string[]>([]);

type Measure = "tokens" | "requests" | "audio" | "cost";

const measures: Record<Measure, { label: string; of: (r: Row) => number; show: (n: number) => string }> = {
  tokens: { label: "Tokens", of: (r) => r.prompt_tokens + r.completion_tokens, show: count },
  requests: { label: "Requests", of: (r) => r.requests, show: count },
  audio: { label: "Audio", of: (r) => r.audio_seconds / 60, show: (n) => `${count(Math.round(n))} min` },
  cost: { label: "Cost", of: (r) => r.cost ?? 0, show: (n) => n.toFixed(n < 10 ? 3 : 2) },
};

/** days returns the days from the first to the last, both included. */
function days(from: string, to: string): string[] {
  const list: string[] = [];
  for (let t = Date.parse(from); t <= Date.parse(to); t += 86_400_000)
    list.push(new Date(t).toISOString().slice(0, 10));
  return list;
}

/** total sums rows by a name, greatest first. */
function total(rows: Row[], by: (r: Row) => string, of: (r: Row) => number): [string, number][] {
  const sums = new Map<string, number>();
  for (const r of rows) sums.set(by(r), (sums.get(by(r)) ?? 0) + of(r));
  return [...sums].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** shades is the number of shades in the style sheet. */
const shades = 7;

/** UsageChart shows a measure per day, with a shade for each key or model. */
function UsageChart({ a, by, measure }: { a: Answer; by: "key" | "model"; measure: Measure }) {
  const { of, show, label } = measures[measure];
  const name = (r: Row) => r[by] || "no key";
  const sums = total(a.usage, name, of).filter(([, n]) => n > 0);
  // All further names share the last shade.
  const shade = (n: string) =>
    Math.min(
      sums.findIndex(([s]) => s === n),
      shades - 1,
    );
  const list = days(a.from, a.to);
  const perDay = list.map((d) => {
    const rows = a.usage.filter((r) => r.day === d);
    return {
      day: d,
      parts: total(rows, name, of).sort((x, y) => shade(x[0]) - shade(y[0])),
      all: rows.reduce((n, r) => n + of(r), 0),
    };
  });
  const top = Math.max(...perDay.map((d) => d.all), 0);
  if (!top) return <p class="empty">No usage in this period.</p>;
  const width = 1000 / list.length;
  return (
    <figure class="usage">
      <svg
        viewBox="0 0 1000 240"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label} per day by ${by}, at most ${show(top)}; the table below has the totals`}
      >
        {[0.25, 0.5, 0.75, 1].map((g) => (
          <line key={g} x1="0" x2="1000" y1={240 - 232 * g} y2={240 - 232 * g} />
        ))}
        {perDay.map((d, i) => {
          let y = 240;
          return d.parts.map(([n, v]) => {
            const h = (232 * v) / top;
            y -= h;
            return (
              <rect
                key={d.day + n}
                x={i * width + width * 0.1}
                y={y}
                width={width * 0.8}
                height={h}
                class={`shade-${shade(n)}`}
              >
                <title>{`${d.day} ${n}: ${show(v)}`}</title>
              </rect>
            );
          });
        })}
      </svg>
      <p class="axis">
        <span>{list[0]}</span>
        <span>peak: {show(top)} per day</span>
        <span>{list.at(-1)}</span>
      </p>
      <ul class="legend">
        {sums.slice(0, shades - 1).map(([n, v]) => (
          <li key={n}>
            <i class={`shade-${shade(n)}`} /> {n} <b>{show(v)}</b>
          </li>
        ))}
        {sums.length >= shades && (
          <li>
            <i class={`shade-${shades - 1}`} />{" "}
            {sums.length === shades ? sums[shades - 1]![0] : `${sums.length - shades + 1} others`}{" "}
            <b>{show(sums.slice(shades - 1).reduce((n, [, v]) => n + v, 0))}</b>
          </li>
        )}
      </ul>
    </figure>
  );
}

const limit = (n: number) => (n ? count(n) : "–");

/** Keys is the tab of keys and usage. */
export function Keys() {
  const answer = useSignal<Answer | null>(null);
  const problem = useSignal("");
  const range = useSignal(30);
  const by = useSignal<"key" | "model">("key");
  const measure = useSignal<Measure>("tokens");
  useEffect(() => {
    const from = new Date(Date.now() - (range.value - 1) * 86_400_000).toISOString().slice(0, 10);
    json<Answer>(`/admin/api/keys?from=${from}`).then(
      (a) => {
        answer.value = a;
        names.value = a.keys.map((k) => k.name);
        problem.value = "";
      },
      (e: unknown) => (problem.value = errorText(e)),
    );
  }, [range.value]);
  const a = answer.value;
  if (!a) return problem.value ? <Notice kind="error">{problem.value}</Notice> : <p class="empty">…</p>;
  const priced = a.usage.some((r) => r.cost !== undefined);
  const hasAudio = a.usage.some((r) => r.audio_seconds > 0);
  const shown = (Object.keys(measures) as Measure[]).filter(
    (m) => (m !== "cost" || priced) && (m !== "audio" || hasAudio),
  );
  const rows = [...new Set([...a.keys.map((k) => k.name), ...a.usage.map((r) => r.key)])];
  const used = (name: string, of: (r: Row) => number) =>
    a.usage.filter((r) => r.key === name).reduce((n, r) => n + of(r), 0);
  return (
    <div class="desk">
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      <section aria-labelledby="usage">
        <div class="heading">
          <h2 id="usage">Completion usage</h2>
          <div class="segments" role="group" aria-label="Measure">
            {shown.map((m) => (
              <button type="button" key={m} aria-pressed={measure.value === m} onClick={() => (measure.value = m)}>
                {measures[m].label}
              </button>
            ))}
          </div>
          <div class="segments" role="group" aria-label="By">
            {(["key", "model"] as const).map((b) => (
              <button type="button" key={b} aria-pressed={by.value === b} onClick={() => (by.value = b)}>
                By {b}
              </button>
            ))}
          </div>
          <div class="segments" role="group" aria-label="Days">
            {[7, 30, 90].map((d) => (
              <button type="button" key={d} aria-pressed={range.value === d} onClick={() => (range.value = d)}>
                {d} days
              </button>
            ))}
          </div>
        </div>
        <UsageChart a={a} by={by.value} measure={measure.value} />
      </section>
      <section aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <div class="scroll" tabIndex={0} role="region" aria-label="Keys">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Models</th>
                <th scope="col" class="number">
                  Requests per minute
                </th>
                <th scope="col" class="number">
                  Tokens per minute
                </th>
                <th scope="col" class="number">
                  Concurrent
                </th>
                <th scope="col" class="number">
                  Requests
                </th>
                <th scope="col" class="number">
                  Tokens in
                </th>
                <th scope="col" class="number">
                  Tokens out
                </th>
                {priced && (
                  <th scope="col" class="number">
                    Cost
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {rows.map((n) => {
                const k = a.keys.find((x) => x.name === n);
                return (
                  <tr key={n}>
                    <th scope="row">
                      {n || "no key"} {k?.admin && <span class="chip">admin</span>}{" "}
                      {!k && n && <span class="chip">removed</span>}
                    </th>
                    <td>{k ? k.models.join(", ") || "all" : "–"}</td>
                    <td class="number">{limit(k?.rpm ?? 0)}</td>
                    <td class="number">{limit(k?.tpm ?? 0)}</td>
                    <td class="number">{limit(k?.concurrency ?? 0)}</td>
                    <td class="number">{count(used(n, (r) => r.requests))}</td>
                    <td class="number">{count(used(n, (r) => r.prompt_tokens))}</td>
                    <td class="number">{count(used(n, (r) => r.completion_tokens))}</td>
                    {priced && <td class="number">{measures.cost.show(used(n, (r) => r.cost ?? 0))}</td>}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        <p class="hint">
          {rows.length === 0 && "This server requires no key. "}– means no limit. Days are UTC
          {priced ? "; costs use the prices in models.yaml" : ""}.
        </p>
      </section>
    </div>
  );
}
