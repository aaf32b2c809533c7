// How the operators' page writes numbers and times.
import { useEffect, useState } from "preact/hooks";

/** span is a length of time in seconds as people write it. */
export function span(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** since is how long ago a time was. */
export function since(iso: string): string {
  return span(Math.max(0, (Date.now() - Date.parse(iso)) / 1000));
}

/** count is a number with its thousands apart, short above ten thousand. */
export function count(n: number): string {
  if (n < 10_000) return new Intl.NumberFormat("en").format(n);
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(n);
}

/** mebibytes is a size of memory. */
export function mebibytes(n: number): string {
  const m = n / 2 ** 20;
  return m < 1024 ? `${Math.round(m)} MiB` : `${(m / 1024).toFixed(1)} GiB`;
}

/** clock is the time of day with its milliseconds, as the reader's clock has it. */
export function clock(iso: string): string {
  const d = new Date(iso);
  return `${d.toLocaleTimeString("en-GB")}.${String(d.getMilliseconds()).padStart(3, "0")}`;
}

/** moment is a date and time in the reader's zone. */
export function moment(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
}

/** useSecond draws what uses it again every second, so that ages grow. */
export function useSecond(): void {
  const [, set] = useState(0);
  useEffect(() => {
    const t = setInterval(() => set((n) => n + 1), 1000);
    return () => clearInterval(t);
  }, []);
}
