// This browser's jobs with their progress and results. They are kept in localStorage,
// so that a reloaded page continues to watch them.
import { signal } from "@preact/signals";
import { ApiError, json, request } from "./api";
import type { Kind } from "./kinds";
import type { Sample } from "./snippets";

export interface Warning {
  code: string;
  message: string;
  line?: number;
}

export interface Artifact {
  url: string;
  size: number;
  pages?: number;
  content_type: string;
  filename: string;
  expires_at: string;
}

interface State {
  status: "queued" | "processing" | "completed" | "failed" | "cancelled";
  stage: string;
  progress: number;
  seq: number;
  message?: string;
  artifact?: Artifact | null;
  error?: { code: string; message: string } | null;
  warnings?: Warning[];
  queue_position?: number | null;
  theme?: string;
  started_at?: string | null;
  finished_at?: string | null;
}

export interface Job extends State {
  id: string;
  kind: Kind;
  title: string;
  ws: string;
  created: string;
  sample?: Sample;
  /** gone: the server has deleted the job or its result. */
  gone?: boolean;
}

interface Accepted {
  job_id: string;
  status: State["status"];
  ws_url: string;
  created_at: string;
}

const slot = "presswork.jobs";
const most = 40;

/** jobs are this browser's jobs, newest first. */
export const jobs = signal<Job[]>(load());

function load(): Job[] {
  try {
    const kept = JSON.parse(localStorage.getItem(slot) ?? "[]") as unknown;
    return Array.isArray(kept) ? (kept as Job[]).filter((j) => typeof j?.id === "string") : [];
  } catch {
    return [];
  }
}

function save(change: (list: Job[]) => Job[]): void {
  // Another window may have changed the list.
  const kept = load();
  const known = new Set(kept.map((j) => j.id));
  const list = change(
    [...jobs.value.filter((j) => !known.has(j.id)), ...kept].sort((a, b) => (a.created < b.created ? 1 : -1)),
  ).slice(0, most);
  jobs.value = list;
  try {
    localStorage.setItem(slot, JSON.stringify(list));
  } catch {
    // Without storage the browser loses the history when the page closes.
  }
}

addEventListener("storage", (e) => {
  if (e.key === slot) jobs.value = load();
});

/** ended reports whether a job's status is final. */
export function ended(j: Job): boolean {
  return j.gone === true || j.status === "completed" || j.status === "failed" || j.status === "cancelled";
}

/** add lists an accepted job and watches it. It returns the job's id. */
export function add(a: Accepted, about: Pick<Job, "kind" | "title" | "sample">): string {
  const job: Job = {
    ...about,
    id: a.job_id,
    ws: a.ws_url,
    created: a.created_at,
    status: a.status,
    stage: "queued",
    progress: 0,
    seq: 0,
  };
  save((list) => [job, ...list.filter((j) => j.id !== job.id)]);
  void watch(job.id);
  return job.id;
}

/** find returns a job of this browser. */
export function find(id: string | null): Job | undefined {
  return jobs.value.find((j) => j.id === id);
}

/** cancel cancels a running job. Errors: ApiError. */
export async function cancel(id: string): Promise<void> {
  try {
    merge(id, await json<State>(`/api/conversion/${id}`, { method: "DELETE" }));
  } catch (e) {
    if (!(e instanceof ApiError && e.status === 409)) throw e;
  }
}

/** discard deletes the result of a job on the server, with its share links. Errors: ApiError. */
export async function discard(id: string): Promise<void> {
  await request(`/api/artifacts/${id}`, { method: "DELETE" });
  merge(id, { gone: true });
}

/** forget removes ended jobs from the list. */
export function forget(): void {
  save((list) => list.filter((j) => !ended(j)));
}

function merge(id: string, state: Partial<State> & { gone?: boolean }): void {
  save((list) =>
    list.map((j) => {
      if (j.id !== id || (state.seq !== undefined && state.seq < j.seq)) return j;
      const {
        status,
        stage,
        progress,
        seq,
        message,
        artifact,
        error,
        warnings,
        queue_position,
        theme,
        started_at,
        finished_at,
        gone,
      } = state;
      const known = {
        status,
        stage,
        progress,
        seq,
        message,
        artifact,
        error,
        warnings,
        queue_position,
        theme,
        started_at,
        finished_at,
        gone,
      };
      return { ...j, ...Object.fromEntries(Object.entries(known).filter(([, v]) => v !== undefined)) };
    }),
  );
}

/** refresh fetches a job's status, its warnings and a new address of its result. */
export async function refresh(id: string, query = ""): Promise<void> {
  try {
    merge(id, await json<State>(`/api/conversion/${id}${query}`));
  } catch (e) {
    if (e instanceof ApiError && (e.status === 404 || e.status === 410)) merge(id, { gone: true });
    else throw e;
  }
}

/** resume watches the jobs that had not ended when the page was closed. */
export function resume(): void {
  for (const j of jobs.value) if (!ended(j)) void watch(j.id);
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function watch(id: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const job = find(id);
    if (!job) return;
    if (!ended(job)) {
      const received = await listen(job);
      if (received) tries = 0;
    }
    try {
      // Events carry no warnings. Where WebSockets are blocked, this polls until the
      // job ends.
      await refresh(id, tries > 1 ? "?wait=20s&until=done" : "");
      const now = find(id);
      if (!now || ended(now)) return;
    } catch {
      // Offline, or without a key: retried below.
    }
    await pause(Math.min(500 * 2 ** tries, 8000));
  }
}

/** listen merges the events of a job until its socket closes. It reports whether it has received any. */
function listen(job: Job): Promise<boolean> {
  return new Promise((done) => {
    const address = new URL(job.ws, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    if (job.seq > 0) address.searchParams.set("since", String(job.seq));
    const socket = new WebSocket(address);
    let received = false;
    socket.onmessage = (e) => {
      received = true;
      merge(job.id, JSON.parse(String(e.data)) as State);
    };
    socket.onclose = () => done(received);
  });
}

/** fetchArtifact returns the result of a job from its current address. Errors: ApiError. */
export async function fetchArtifact(id: string): Promise<Blob> {
  await refresh(id);
  const url = find(id)?.artifact?.url;
  if (!url) throw new ApiError("The result is no longer kept.", 410, "artifact_expired");
  return (await request(url)).blob();
}
