// Which of the replaced texts of a document are kept, and for how long.

/** Kept is a kept text: when it was written, in milliseconds, and its length. */
export interface Kept {
  at: number;
  size: number;
}

const pause = 120_000;
const mostVersions = 50;
const mostCharacters = 16e6;
/** much is the number of characters that a change may remove without a version of the text before it. */
const much = 400;

/** due reports whether to keep a text, written at a time, before another one replaces it.
 * A text is kept every two minutes, after a pause, and when much of it is removed. kept
 * is in the order of time. */
export function due(kept: Kept[], at: number, before: string, after: string): boolean {
  const last = kept.at(-1);
  if (!before.trim() || last?.at === at) return false;
  return !last || at - last.at >= pause || Date.now() - at >= pause || removed(before, after) > much;
}

/** removed returns how many characters between the first and the last change are gone. */
function removed(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < most && before[start] === after[start]) start++;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return before.length - start - end;
}

/** crowded returns the versions to remove, so that number and length stay bounded. Old
 * versions are further apart than new ones. The newest one always stays. */
export function crowded(kept: Kept[], now: number): Kept[] {
  const left = [...kept];
  const out: Kept[] = [];
  const total = () => left.reduce((n, v) => n + v.size, 0);
  while (left.length > 1 && (left.length > mostVersions || total() > mostCharacters)) {
    let [least, at] = [Infinity, 0];
    for (let i = 0; i < left.length - 1; i++) {
      const gap = (left[i + 1]!.at - (left[i - 1]?.at ?? left[i]!.at)) / Math.max(1, now - left[i]!.at);
      if (gap < least) [least, at] = [gap, i];
    }
    out.push(...left.splice(at, 1));
  }
  return out;
}
