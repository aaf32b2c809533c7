// The dialog of one job: its fields, timeline and actions.
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { aborted, json, post, request, text as errorText } from "../api";
import { kinds, type Kind } from "../kinds";
import { CopyButton, Dialog, Icon, Notice, bytes, save } from "../parts";
import { Deliveries } from "./deliveries";
import { EditDialog } from "./edit";
import { clock, moment, span, useSecond } from "./format";

/** AdminJob is a job as operators see it. */
export interface AdminJob {
  job_id: string;
  kind: Kind;
  status: "queued" | "processing" | "completed" | "failed" | "cancelled";
  stage: string;
  progress: number;
  theme: string;
  cached: boolean;
  queue_position: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  attempts: number;
  warnings: { code: string; message: string }[];
  artifact: { url: string; size: number; pages: number; filename: string } | null;
  error: { code: string; message: string } | null;
  key: string;
  filename: string;
  request_id: string;
  workers: string[];
}

interface Event {
  seq: number;
  status: AdminJob["status"];
  stage: string;
  progress: number;
  message?: string;
  at: string;
  type: string;
}

interface Detail extends AdminJob {
  queue: string;
  traceparent: string;
  trace_url: string;
  webhook_url: string;
  events: Event[];
  task: { state: string; tries: number; next_at?: string; last_error?: string } | null;
  dead: boolean;
  retried_as: string;
}

/** shown is the job whose dialog is open. */
export const shown = signal<string | null>(null);

/** show opens a job. */
export function show(id: string): void {
  shown.value = id;
}

/** ended reports whether a job's status is final. */
export function ended(j: AdminJob): boolean {
  return j.status === "completed" || j.status === "failed" || j.status === "cancelled";
}

/** taken returns the seconds from a job's submission to its end, or until now. */
export function taken(j: AdminJob): number {
  return Math.max(0, ((j.finished_at ? Date.parse(j.finished_at) : Date.now()) - Date.parse(j.created_at)) / 1000);
}

/** Outcome tells what an action did to one job. job_id is the new job after a retry, otherwise the job itself. */
export interface Outcome {
  id: string;
  job_id?: string;
  status?: string;
  error: { code: string; message: string } | null;
}

/** act applies an action to jobs, 500 per request. Errors: ApiError. */
export async function act(what: "cancel" | "retry" | "dismiss" | "redeliver", ids: string[]): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for (let i = 0; i < ids.length; i += 500) {
    const answer = await post(`/admin/api/actions/${what}`, { ids: ids.slice(i, i + 500) });
    all.push(...((await answer.json()) as { data: Outcome[] }).data);
  }
  return all;
}

/** Status shows a job's status as a coloured word. */
export function Status({ j }: { j: AdminJob }) {
  return <span class={`state ${j.status}`}>{j.status === "processing" ? j.stage : j.status}</span>;
}

/** timesInStages returns how long a job stayed in each stage, in the order of time. */
function timesInStages(d: Detail): { name: string; seconds: number }[] {
  const list: { name: string; seconds: number }[] = [];
  d.events.forEach((e, i) => {
    const next = d.events[i + 1];
    const until = next ? Date.parse(next.at) : ended(d) ? Date.parse(e.at) : Date.now();
    const seconds = Math.max(0, (until - Date.parse(e.at)) / 1000);
    const name = e.status === "queued" ? "waiting" : /trying again in/.test(e.message ?? "") ? "waiting" : e.stage;
    if (seconds > 0) {
      const last = list.at(-1);
      if (last?.name === name) last.seconds += seconds;
      else list.push({ name, seconds });
    }
  });
  return list;
}

/** StageBar draws how long a job stayed in each stage. */
function StageBar({ d }: { d: Detail }) {
  const list = timesInStages(d);
  const all = list.reduce((n, s) => n + s.seconds, 0);
  if (!all) return null;
  let x = 0;
  return (
    <figure class="stretches">
      <svg
        viewBox="0 0 1000 14"
        preserveAspectRatio="none"
        role="img"
        aria-label={list.map((s) => `${s.name} ${span(s.seconds)}`).join(", ")}
      >
        {list.map((s, i) => {
          const width = (1000 * s.seconds) / all;
          const at = x;
          x += width;
          return <rect key={i} x={at} y="0" width={width} height="14" class={s.name} />;
        })}
      </svg>
      <figcaption>
        {list.map((s, i) => (
          <span key={i}>
            <i class={s.name} /> {s.name} <b>{span(s.seconds)}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** begun matches the messages with which an attempt begins. */
const begun = /^(a worker has begun|attempt \d+ has begun)$/;

/** Timeline lists the events of a job and the worker of each attempt. */
function Timeline({ d }: { d: Detail }) {
  let attempt = 0;
  const start = Date.parse(d.created_at);
  return (
    <ol class="timeline">
      {d.events.map((e) => {
        const starts = begun.test(e.message ?? "");
        const worker = starts ? d.workers[attempt++] : undefined;
        return (
          <li key={e.seq} class={e.type === "progress" ? "" : e.type}>
            <time dateTime={e.at} title={moment(e.at)}>
              {clock(e.at)}
            </time>
            <span class="offset">+{span(Math.max(0, Date.parse(e.at) - start) / 1000)}</span>
            <span class="what">
              {starts ? (
                <>
                  attempt {attempt} began
                  {worker && (
                    <>
                      {" "}
                      on <b>{worker}</b>
                    </>
                  )}
                </>
              ) : (
                (e.message ?? e.stage)
              )}
              {e.progress > 0 && e.type === "progress" && <small> {e.progress} %</small>}
            </span>
          </li>
        );
      })}
      {d.task?.state === "retry" && d.task.next_at && (
        <li class="next">
          <time dateTime={d.task.next_at}>{clock(d.task.next_at)}</time>
          <span class="offset" />
          <span class="what">next attempt due</span>
        </li>
      )}
    </ol>
  );
}

function Fact({ label, value, href }: { label: string; value?: string | null; href?: string }) {
  if (!value) return null;
  return (
    <div>
      <dt>{label}</dt>
      <dd>{href ? <a href={href}>{value}</a> : value}</dd>
    </div>
  );
}

/** JobDialog shows the open job. It calls onDone after each action. */
export function JobDialog({ onDone }: { onDone: () => void }) {
  const id = shown.value!;
  const detail = useSignal<Detail | null>(null);
  const problem = useSignal("");
  const editing = useSignal(false);
  useSecond();
  const load = async (signal?: AbortSignal) => {
    try {
      const d = await json<Detail>(`/admin/api/jobs/${id}`, signal ? { signal } : {});
      if (shown.peek() !== id) return;
      detail.value = d;
      problem.value = "";
    } catch (e) {
      if (!aborted(e)) problem.value = errorText(e);
    }
  };
  useEffect(() => {
    const gone = new AbortController();
    detail.value = null;
    void load(gone.signal);
    const t = setInterval(() => {
      if (!document.hidden && (!detail.value || !ended(detail.value))) void load(gone.signal);
    }, 1500);
    return () => {
      gone.abort();
      clearInterval(t);
    };
  }, [id]);
  const attempt = (what: "cancel" | "retry" | "dismiss") => async () => {
    try {
      const [o] = await act(what, [id]);
      problem.value = o?.error?.message ?? "";
      onDone();
      if (o?.job_id && o.job_id !== id && !o.error) show(o.job_id);
      else await load();
    } catch (e) {
      problem.value = errorText(e);
    }
  };
  const download = async () => {
    try {
      save(await (await request(detail.value!.artifact!.url)).blob(), detail.value!.artifact!.filename);
    } catch (e) {
      problem.value = errorText(e);
    }
  };
  const d = detail.value;
  return (
    <Dialog title={d?.filename || d?.artifact?.filename || "Job"} wide onClose={() => (shown.value = null)}>
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      {!d && !problem.value && <p class="empty">…</p>}
      {d && (
        <div class="detail" data-status={d.status}>
          <div class="detail-line">
            <Status j={d} />
            <code class="id">{d.job_id}</code>
            <CopyButton text={() => d.job_id} />
            <span class="grow" />
            {d.artifact && (
              <button type="button" class="quiet strong" onClick={() => void download()}>
                <Icon name="download" />{" "}
                {d.artifact.pages ? `${d.artifact.pages} ${d.artifact.pages === 1 ? "page" : "pages"}, ` : ""}
                {bytes(d.artifact.size)}
              </button>
            )}
            {(d.dead || d.task?.state === "retry") && (
              <button type="button" class="quiet strong" onClick={() => void attempt("retry")()}>
                <Icon name="retry" /> {d.dead ? "Retry" : "Retry now"}
              </button>
            )}
            {d.dead && d.kind === "conversion" && (
              <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => (editing.value = true)}>
                <Icon name="edit" /> Edit and retry
              </button>
            )}
            {d.dead && (
              <button type="button" class="quiet" onClick={() => void attempt("dismiss")()}>
                <Icon name="check" /> Dismiss
              </button>
            )}
            {!ended(d) && (
              <button type="button" class="quiet" onClick={() => void attempt("cancel")()}>
                <Icon name="stop" /> Cancel
              </button>
            )}
          </div>
          {d.error && (
            <p class="failure">
              <b>{d.error.code}</b> {d.error.message}
            </p>
          )}
          {d.task?.last_error && !ended(d) && (
            <p class="failure">
              <b>last attempt</b> {d.task.last_error.split("\n")[0]}
            </p>
          )}
          {d.retried_as && (
            <p class="hint">
              Retried as{" "}
              <button type="button" class="link id" onClick={() => show(d.retried_as)}>
                {d.retried_as}
              </button>
            </p>
          )}
          {editing.value && (
            <EditDialog
              id={id}
              onClose={() => (editing.value = false)}
              onRetried={(newID) => {
                editing.value = false;
                onDone();
                show(newID);
              }}
            />
          )}
          <StageBar d={d} />
          <dl class="facts wide">
            <Fact label="Key" value={d.key || "none"} />
            <Fact label="Kind" value={kinds[d.kind]} />
            <Fact label="Queue" value={d.queue + (d.queue_position !== null ? `, ${d.queue_position} ahead` : "")} />
            <Fact label="Theme" value={d.theme} />
            <Fact label="Submitted" value={moment(d.created_at)} />
            <Fact label="Took" value={span(taken(d)) + (d.cached ? ", from the render cache" : "")} />
            <Fact label="Attempts" value={String(d.attempts)} />
            <Fact label="Request" value={d.request_id} />
            <Fact label="Trace" value={d.traceparent.split("-")[1]} href={d.trace_url} />
            <Fact label="Webhook" value={d.webhook_url} />
          </dl>
          {d.warnings.length > 0 && (
            <details>
              <summary>
                {d.warnings.length} {d.warnings.length === 1 ? "warning" : "warnings"}
              </summary>
              <ul class="warnings">
                {d.warnings.map((w, i) => (
                  <li key={i} class="warning">
                    <span class="where">{w.code}</span> {w.message}
                  </li>
                ))}
              </ul>
            </details>
          )}
          <h3>Timeline</h3>
          <Timeline d={d} />
          {d.webhook_url && (
            <>
              <h3>Webhook</h3>
              <Deliveries key={d.status} job={d.job_id} ended={ended(d)} />
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}
