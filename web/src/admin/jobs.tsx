// Jobs of every key: filters, the list, and actions on many jobs.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { aborted, json, keyWanted, text as errorText } from "../api";
import { kinds } from "../kinds";
import { Icon, Notice } from "../parts";
import { act, ended, show, Status, taken, type AdminJob, type Outcome } from "./detail";
import { moment, since, span, useSecond } from "./format";
import { fleet } from "./fleet";

interface List {
  data: AdminJob[];
  has_more: boolean;
  next_cursor: string | null;
}

interface Filters {
  status: string;
  kind: string;
  key: string;
  worker: string;
  age: string;
  text: string;
}

const none: Filters = { status: "", kind: "", key: "", worker: "", age: "", text: "" };
const ages: Record<string, number> = { "Last hour": 3600, "Last day": 86400, "Last week": 604800 };

/** causes select the failed jobs with a cause. */
const causes: Record<string, string> = { caller: "Failed: document or page", server: "Failed: server" };

/** anyKey selects every key, noKey the jobs submitted without one. */
const anyKey = "";
const noKey = "\u0000";

/** address returns the address of one page of the list. */
function address(f: Filters, dead: boolean, cursor: string | null, limit: number): string {
  const q = new URLSearchParams({ limit: String(limit) });
  if (f.status in causes) q.set("cause", f.status);
  else if (f.status) q.set("status", f.status);
  if (f.kind) q.set("kind", f.kind);
  if (f.key !== anyKey) q.set("key", f.key === noKey ? "" : f.key);
  if (f.worker) q.set("worker", f.worker);
  if (f.age) q.set("since", new Date(Date.now() - ages[f.age]! * 1000).toISOString());
  if (f.text.trim()) q.set("text", f.text.trim());
  if (dead) q.set("dead", "true");
  if (cursor) q.set("cursor", cursor);
  return `/admin/api/jobs?${q}`;
}

/** words tell what the actions have done. */
const words = { cancel: "cancelled", retry: "retried", dismiss: "dismissed" };

/** Jobs lists all jobs, or only the dead letters. */
export function Jobs({ dead, keys }: { dead: boolean; keys: string[] }) {
  const filters = useSignal<Filters>(none);
  const list = useSignal<AdminJob[] | null>(null);
  const cursor = useSignal<string | null>(null);
  const pages = useSignal(1);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const problem = useSignal("");
  const said = useSignal("");
  const busy = useSignal(false);
  useSecond();

  const load = async (more: boolean, signal?: AbortSignal) => {
    try {
      const page = await json<List>(
        address(filters.value, dead, more ? cursor.value : null, 50),
        signal ? { signal } : {},
      );
      const before = more ? (list.value ?? []) : [];
      list.value = [...before, ...page.data];
      cursor.value = page.has_more ? page.next_cursor : null;
      problem.value = "";
    } catch (e) {
      if (!aborted(e)) problem.value = errorText(e);
    }
  };
  // Load shortly after the last key press, and again every three seconds while only
  // the first page is shown.
  useEffect(() => {
    const gone = new AbortController();
    pages.value = 1;
    const soon = setTimeout(() => void load(false, gone.signal), list.value ? 200 : 0);
    const again = setInterval(() => {
      if (!document.hidden && pages.value === 1 && !busy.value && !keyWanted.value) void load(false, gone.signal);
    }, 3000);
    return () => {
      gone.abort();
      clearTimeout(soon);
      clearInterval(again);
    };
  }, [filters.value, dead]);

  const set = (name: keyof Filters) => (e: { currentTarget: { value: string } }) => {
    chosen.value = new Set();
    filters.value = { ...filters.value, [name]: e.currentTarget.value };
  };
  const toggle = (id: string) => {
    const next = new Set(chosen.value);
    if (!next.delete(id)) next.add(id);
    chosen.value = next;
  };
  const jobs = list.value ?? [];
  const all = jobs.length > 0 && jobs.every((j) => chosen.value.has(j.job_id));

  // matching returns the ids of every job that the filters select, at most 10 000.
  const matching = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let at: string | null = null; ;) {
      const page: List = await json<List>(address(filters.value, dead, at, 100));
      ids.push(...page.data.map((j) => j.job_id));
      if (!page.has_more || ids.length >= 10_000) return ids;
      at = page.next_cursor;
    }
  };
  const chooseMatching = async () => {
    busy.value = true;
    try {
      chosen.value = new Set(await matching());
    } catch (e) {
      problem.value = errorText(e);
    }
    busy.value = false;
  };
  const run = async (what: "cancel" | "retry" | "dismiss") => {
    busy.value = true;
    said.value = "";
    try {
      const outcomes: Outcome[] = await act(what, [...chosen.value]);
      const unchanged = outcomes.filter((o) => o.error);
      said.value = `${outcomes.length - unchanged.length} ${words[what]}`;
      problem.value = unchanged.length
        ? `${unchanged.length} not changed: ${[...new Set(unchanged.map((o) => o.error!.message))].slice(0, 3).join("; ")}`
        : "";
      chosen.value = new Set();
      pages.value = 1;
      const problems = problem.value;
      await load(false);
      problem.value = problems || problem.value;
    } catch (e) {
      problem.value = errorText(e);
    }
    busy.value = false;
  };
  const f = filters.value;
  const workers = [
    ...new Set([...(fleet.value?.workers.map((w) => w.name) ?? []), ...jobs.flatMap((j) => j.workers)]),
  ].sort();
  const names = [...new Set([...keys, ...jobs.map((j) => j.key)])].filter(Boolean).sort();
  return (
    <div class="desk">
      <form class="filters jobs-filters" role="search" onSubmit={(e) => e.preventDefault()}>
        <input
          type="search"
          aria-label="Id, file name or error"
          placeholder="Id, file name or error"
          value={f.text}
          onInput={set("text")}
        />
        {!dead && (
          <select aria-label="Status" value={f.status} onChange={set("status")}>
            <option value="">Any status</option>
            <option value="queued,processing">Open</option>
            {["queued", "processing", "completed", "failed", "cancelled"].map((s) => (
              <option key={s} value={s}>
                {s[0]!.toUpperCase() + s.slice(1)}
              </option>
            ))}
            {Object.entries(causes).map(([cause, label]) => (
              <option key={cause} value={cause}>
                {label}
              </option>
            ))}
          </select>
        )}
        <select aria-label="Kind" value={f.kind} onChange={set("kind")}>
          <option value="">Any kind</option>
          {Object.entries(kinds).map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
        <select aria-label="Key" value={f.key} onChange={set("key")}>
          <option value={anyKey}>Any key</option>
          <option value={noKey}>No key</option>
          {names.map((n) => (
            <option key={n} value={n}>
              {n}
            </option>
          ))}
        </select>
        <select aria-label="Worker" value={f.worker} onChange={set("worker")}>
          <option value="">Any worker</option>
          {workers.map((w) => (
            <option key={w} value={w}>
              {w}
            </option>
          ))}
        </select>
        <select aria-label="Age" value={f.age} onChange={set("age")}>
          <option value="">Any age</option>
          {Object.keys(ages).map((a) => (
            <option key={a} value={a}>
              {a}
            </option>
          ))}
        </select>
        {JSON.stringify(f) !== JSON.stringify(none) && (
          <button type="button" class="quiet" onClick={() => (filters.value = none)}>
            <Icon name="close" /> Clear
          </button>
        )}
      </form>
      {problem.value && (
        <Notice kind="error" onClose={() => (problem.value = "")}>
          {problem.value}
        </Notice>
      )}
      <div class="batch" role="toolbar" aria-label="Actions for selected jobs">
        <label>
          <input
            type="checkbox"
            checked={all}
            disabled={jobs.length === 0}
            onChange={() => (chosen.value = all ? new Set() : new Set(jobs.map((j) => j.job_id)))}
          />{" "}
          {chosen.value.size ? `${chosen.value.size} selected` : "Select all shown"}
        </label>
        {all && cursor.value && (
          <button type="button" class="quiet" disabled={busy.value} onClick={() => void chooseMatching()}>
            Select all that match
          </button>
        )}
        <span class="grow" role="status">
          {said.value}
        </span>
        <button
          type="button"
          class="quiet strong"
          disabled={!chosen.value.size || busy.value}
          onClick={() => void run("retry")}
        >
          <Icon name="retry" /> Retry
        </button>
        {dead ? (
          <button
            type="button"
            class="quiet"
            disabled={!chosen.value.size || busy.value}
            onClick={() => void run("dismiss")}
          >
            <Icon name="check" /> Dismiss
          </button>
        ) : (
          <button
            type="button"
            class="quiet"
            disabled={!chosen.value.size || busy.value}
            onClick={() => void run("cancel")}
          >
            <Icon name="stop" /> Cancel
          </button>
        )}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
        <table class="jobs">
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">Selected</span>
              </th>
              <th scope="col">Status</th>
              <th scope="col">Job</th>
              <th scope="col">Key</th>
              <th scope="col">Worker</th>
              <th scope="col" class="number">
                Attempts
              </th>
              <th scope="col" class="number">
                Took
              </th>
              <th scope="col" class="number">
                Submitted
              </th>
            </tr>
          </thead>
          <tbody>
            {jobs.map((j) => (
              <tr key={j.job_id} data-id={j.job_id}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Select ${j.filename || j.job_id}`}
                    checked={chosen.value.has(j.job_id)}
                    onChange={() => toggle(j.job_id)}
                  />
                </td>
                <td>
                  <Status j={j} />
                  {j.status === "processing" && (
                    <svg class="bar-line" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                      <rect width="100" height="4" />
                      <rect class="used" width={j.progress} height="4" />
                    </svg>
                  )}
                </td>
                <td class="job-cell">
                  <button type="button" class="link" onClick={() => show(j.job_id)}>
                    {j.filename || j.artifact?.filename || <span class="id">{j.job_id}</span>}
                  </button>
                  <small>
                    {j.error
                      ? `${j.error.code}: ${j.error.message}`
                      : [
                          j.kind === "conversion" ? j.theme : kinds[j.kind],
                          j.artifact?.pages ? `${j.artifact.pages} p.` : "",
                          j.cached ? "cached" : "",
                        ]
                          .filter(Boolean)
                          .join(" · ")}
                  </small>
                </td>
                <td>{j.key || "–"}</td>
                <td class="worker-cell">{j.workers.at(-1) ?? "–"}</td>
                <td class="number">{j.attempts}</td>
                <td class="number">
                  {span(taken(j))}
                  {!ended(j) && "…"}
                </td>
                <td class="number">
                  <time dateTime={j.created_at} title={moment(j.created_at)}>
                    {since(j.created_at)}
                  </time>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {list.value && jobs.length === 0 && (
          <p class="empty">
            {cursor.value
              ? "No match among the jobs searched so far."
              : dead
                ? "No dead letters. Failures by a document or page are under Jobs."
                : "No job matches the filters."}
          </p>
        )}
      </div>
      {cursor.value && (
        <button
          type="button"
          class="quiet strong more"
          disabled={busy.value}
          onClick={() => {
            pages.value++;
            void load(true);
          }}
        >
          {jobs.length ? "Show more" : "Search older jobs"}
        </button>
      )}
      {pages.value > 1 && <p class="hint">The list shows no new jobs while older ones are open.</p>}
    </div>
  );
}
