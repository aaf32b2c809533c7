// The state of the fleet for the operators' page. The page fetches it again while it is visible.
import { signal } from "@preact/signals";
import { ApiError, aborted, json, keyWanted, text } from "../api";

export interface Queue {
  name: string;
  waiting: number;
  running: number;
  retrying: number;
  archived: number;
  paused: boolean;
  oldest_seconds: number;
  oldest_open_seconds: number;
  done_today: number;
  failed_today: number;
}

export interface Run {
  id: string;
  queue: string;
  kind: string;
  job: boolean;
  since: string;
}

export interface Worker {
  name: string;
  version?: string;
  started_at: string;
  queues: string[];
  slots: number;
  running: Record<string, number>;
  runs: Run[];
  memory_bytes: number;
  browsers?: {
    use: string;
    started_at?: string;
    memory_bytes: number;
    prints: number;
    busy: number;
    waiting: number;
  }[];
}

export interface Fleet {
  at: string;
  open: number;
  dead: number;
  queues: Queue[];
  workers: Worker[];
}

/** Sample is the load of the queues at one time, for the trends. */
export interface Sample {
  at: number;
  waiting: number;
  running: number;
  done: number;
}

/** fleet is the last fetched state, null before the first. */
export const fleet = signal<Fleet | null>(null);

/** samples has the samples of the last minutes, oldest first. */
export const samples = signal<Sample[]>([]);

/** trouble is the error of the last fetch, "" for none. */
export const trouble = signal("");

/** interval is the time between two fetches, in milliseconds. */
const interval = 2000;

/** maxSamples bounds the samples that are kept. */
const maxSamples = 150;

let timer = 0;
let waiting = false;

/** probe is a path that only operators' keys may fetch. */
export const probe = "/admin/api/fleet";

/** sum adds up one number of each item. */
export function sum<T>(list: T[], of: (t: T) => number): number {
  return list.reduce((n, t) => n + of(t), 0);
}

/** ask fetches the state, unless the page is hidden or the last request still runs. */
async function ask(): Promise<void> {
  if (waiting || document.hidden || keyWanted.value) return;
  waiting = true;
  try {
    const f = await json<Fleet>(probe);
    fleet.value = f;
    trouble.value = "";
    const sample = {
      at: Date.parse(f.at),
      waiting: sum(f.queues, (q) => q.waiting),
      running: sum(f.queues, (q) => q.running),
      done: sum(f.queues, (q) => q.done_today),
    };
    samples.value = [...samples.value, sample].slice(-maxSamples);
  } catch (e) {
    if (e instanceof ApiError && e.status === 403) keyWanted.value = true;
    if (!aborted(e)) trouble.value = text(e);
  } finally {
    waiting = false;
  }
}

/** follow fetches the state now and every two seconds. */
export function follow(): void {
  clearInterval(timer);
  timer = window.setInterval(ask, interval);
  void ask();
}

document.addEventListener("visibilitychange", () => void ask());
