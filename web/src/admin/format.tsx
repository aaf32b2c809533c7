// Numbers and times as the operators' page shows them.
import { useEffect, useState } from "preact/hooks";

/** span formats a duration, given in seconds. */
export function span(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** since formats the time that has passed since a moment. */
export function since(iso: string): string {
  return span(Math.max(0, (Date.now() - Date.parse(iso)) / 1000));
}

/** count formats a number, in short form above ten thousand. */
export function count(n: number): string {
  if (n < 10_000) return new Intl.NumberFormat("en").format(n);
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(n);
}

/** mebibytes formats a size in bytes as MiB or GiB. */
export function mebibytes(n: number): string {
  const m = n / 2 ** 20;
  return m < 1024 ? `${Math.round(m)} MiB` : `${(m / 1024).toFixed(1)} GiB`;
}

/** clock formats a time of day with milliseconds, in the reader's zone. */
export function clock(iso: string): string {
  const d = new Date(iso);
  return `${d.toLocaleTimeString("en-GB")}.${String(d.getMilliseconds()).padStart(3, "0")}`;
}

/** moment formats a date and time in the reader's zone. */
export function moment(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", {
    day: "2-digit",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
}

/** useSecond redraws its component every second, so that ages stay current. */
export function useSecond(): void {
  const [, set] = useState(0);
  useEffect(() => {
    const t = setInterval(() => set((n) => n + 1), 1000);
    return () => clearInterval(t);
  }, []);
}
