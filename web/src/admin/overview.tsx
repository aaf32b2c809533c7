// The Overview tab: numbers of jobs, queues, and workers with their tasks.
import type { ComponentChildren } from "preact";
import { count, mebibytes, since, span, useSecond } from "./format";
import { fleet, samples, sum, type Queue, type Worker } from "./fleet";
import { show } from "./detail";

/** Tile shows a number with a note; bad marks it as a problem. */
function Tile({ label, value, note, bad }: { label: string; value: string; note?: string; bad?: boolean }) {
  return (
    <div class={bad ? "tile bad" : "tile"}>
      <dt>{label}</dt>
      <dd>
        {value}
        <small>{note ?? "\u00a0"}</small>
      </dd>
    </div>
  );
}

/** Trend draws a line of the last minutes, with a description for screen readers. */
function Trend({ label, of, unit }: { label: string; of: (i: number) => number; unit: string }) {
  const n = samples.value.length;
  const values = Array.from({ length: n }, (_, i) => of(i));
  const top = Math.max(1, ...values);
  const now = values.at(-1) ?? 0;
  const points = values
    .map((v, i) => `${(300 * i) / Math.max(1, n - 1)},${(46 - (42 * v) / top).toFixed(1)}`)
    .join(" ");
  return (
    <figure class="trend">
      <figcaption>
        {label} <b>{count(Math.round(now * 10) / 10)}</b> {unit}
        <small>
          {n > 1
            ? `${Math.max(...values) ? "at most " + count(Math.round(Math.max(...values) * 10) / 10) : "none"} in ${span((samples.value[n - 1]!.at - samples.value[0]!.at) / 1000)}`
            : "the line begins now"}
        </small>
      </figcaption>
      <svg
        viewBox="0 0 300 48"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${count(now)} ${unit} now, at most ${count(top)}`}
      >
        <line x1="0" x2="300" y1="46" y2="46" />
        {n > 1 && <polygon points={`0,48 ${points} 300,48`} />}
        {n > 1 && <polyline points={points} />}
      </svg>
    </figure>
  );
}

/** QueueRow shows the numbers of a queue. A task that waits for more than a minute is marked. */
function QueueRow({ q }: { q: Queue }) {
  const late = q.oldest_seconds > 60;
  return (
    <tr>
      <th scope="row">
        {q.name} {q.paused && <span class="chip warn">paused</span>}
      </th>
      <td class="number">{count(q.waiting)}</td>
      <td class="number">{count(q.running)}</td>
      <td class="number">{count(q.retrying)}</td>
      <td class={late ? "number late" : "number"}>{q.waiting ? span(q.oldest_seconds) : "–"}</td>
      <td class="number">{q.oldest_open_seconds ? span(q.oldest_open_seconds) : "–"}</td>
      <td class="number">{count(q.done_today)}</td>
      <td class={q.failed_today ? "number late" : "number"}>{count(q.failed_today)}</td>
    </tr>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** WorkerCard shows a worker: its slots, browsers, and at most eight of its tasks. */
function WorkerCard({ w }: { w: Worker }) {
  const printing = ["render", "export", "bulk"].reduce((n, q) => n + (w.running[q] ?? 0), 0);
  const total = Object.values(w.running).reduce((n, r) => n + r, 0);
  return (
    <li class="worker">
      <header>
        <b>{w.name}</b>
        <span class="chip">{total ? `${total} running` : "idle"}</span>
      </header>
      <svg
        class="slots"
        viewBox={`0 0 ${Math.max(w.slots, 1) * 10} 6`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${Math.min(printing, w.slots)} of ${w.slots} slots printing`}
      >
        {Array.from({ length: w.slots }, (_, i) => (
          <rect key={i} x={i * 10 + 0.5} y="0" width="9" height="6" class={i < printing ? "used" : ""} />
        ))}
      </svg>
      <dl class="facts">
        <Fact label="Up">{since(w.started_at)}</Fact>
        <Fact label="Memory">{mebibytes(w.memory_bytes)}</Fact>
        {w.browsers?.map((b) => (
          <Fact key={b.use} label={b.use === "documents" ? "Browser" : "Export browser"}>
            {b.started_at
              ? `${since(b.started_at)} old, ${mebibytes(b.memory_bytes)}, ${count(b.prints)} ${b.prints === 1 ? "print" : "prints"}`
              : "not running"}
          </Fact>
        ))}
        <Fact label="Queues">{w.queues.join(", ")}</Fact>
        {w.version && <Fact label="Version">{w.version}</Fact>}
      </dl>
      {w.runs.length > 0 && (
        <ul class="runs">
          {w.runs.slice(0, 8).map((r) => (
            <li key={r.queue + r.id}>
              <span class="chip">{r.kind.replace(/:v\d+$/, "")}</span>
              {r.job ? (
                <button type="button" class="link id" onClick={() => show(r.id)}>
                  {r.id}
                </button>
              ) : (
                <span class="id">{r.id}</span>
              )}
              <span class="grow" />
              <small>{since(r.since)}</small>
            </li>
          ))}
          {total > Math.min(8, w.runs.length) && <li class="hint">and {total - Math.min(8, w.runs.length)} more</li>}
        </ul>
      )}
    </li>
  );
}

/** perSecond returns how many runs ended per second around a sample. */
function perSecond(i: number): number {
  const list = samples.value;
  const before = list[Math.max(0, i - 5)]!;
  const s = (list[i]!.at - before.at) / 1000;
  return s > 0 ? Math.max(0, list[i]!.done - before.done) / s : 0;
}

/** Overview is the first tab. */
export function Overview() {
  useSecond();
  const f = fleet.value;
  if (!f) return <p class="empty">…</p>;
  const oldest = Math.max(0, ...f.queues.map((q) => q.oldest_seconds));
  const done = sum(f.queues, (q) => q.done_today);
  const failed = sum(f.queues, (q) => q.failed_today);
  return (
    <div class="desk">
      <dl class="tiles">
        <Tile
          label="Open jobs"
          value={count(f.open)}
          note={`${count(sum(f.queues, (q) => q.retrying))} awaiting retry`}
        />
        <Tile
          label="Running"
          value={count(sum(f.queues, (q) => q.running))}
          note={`${count(sum(f.queues, (q) => q.waiting))} waiting`}
        />
        <Tile label="Oldest waiting" value={oldest ? span(oldest) : "none"} bad={oldest > 60} />
        <Tile label="Ended today" value={count(done)} note={`${count(failed)} failed`} />
        <Tile
          label="Dead letters"
          value={count(f.dead)}
          bad={f.dead > 0}
          note={f.dead ? "need attention" : undefined}
        />
        <Tile
          label="Workers"
          value={count(f.workers.length)}
          bad={f.workers.length === 0}
          note={f.workers.length ? `${count(sum(f.workers, (w) => w.slots))} slots` : "jobs wait until one starts"}
        />
      </dl>
      <div class="trends">
        <Trend label="Waiting" unit="tasks" of={(i) => samples.value[i]!.waiting} />
        <Trend label="Running" unit="tasks" of={(i) => samples.value[i]!.running} />
        <Trend label="Ended" unit="per second" of={perSecond} />
      </div>
      <section aria-labelledby="queues">
        <h2 id="queues">Queues</h2>
        <div class="scroll" tabIndex={0} role="region" aria-label="Queues">
          <table>
            <thead>
              <tr>
                <th scope="col">Queue</th>
                <th scope="col" class="number">
                  Waiting
                </th>
                <th scope="col" class="number">
                  Running
                </th>
                <th scope="col" class="number">
                  Retrying
                </th>
                <th scope="col" class="number">
                  Oldest waiting
                </th>
                <th scope="col" class="number">
                  Oldest open
                </th>
                <th scope="col" class="number">
                  Ended today
                </th>
                <th scope="col" class="number">
                  Failed today
                </th>
              </tr>
            </thead>
            <tbody>
              {f.queues.map((q) => (
                <QueueRow key={q.name} q={q} />
              ))}
            </tbody>
          </table>
        </div>
        <p class="hint">
          Days are UTC. <a href="/monitor">Asynqmon</a> shows each queue's tasks and history.
        </p>
      </section>
      <section aria-labelledby="workers">
        <h2 id="workers">Workers</h2>
        {f.workers.length === 0 && <p class="hint">No worker is running. Jobs wait until one starts.</p>}
        <ul class="workers">
          {f.workers.map((w) => (
            <WorkerCard key={w.name + w.started_at} w={w} />
          ))}
        </ul>
      </section>
    </div>
  );
}
