// The outline of the document.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Heading } from "./headings";

/** headings are those of the open document. */
export const headings = signal<Heading[]>([]);

/** cursor is the line of the cursor, counted from 1. */
export const cursor = signal(1);

const slot = "presswork.outline";

/** stored reports whether the outline was open at the last visit. */
export function stored(): boolean {
  try {
    return localStorage.getItem(slot) === "1";
  } catch {
    return false; // storage is switched off
  }
}

/** store remembers whether the outline is open. */
export function store(open: boolean): void {
  try {
    localStorage.setItem(slot, open ? "1" : "0");
  } catch {
    // The next visit begins without the outline.
  }
}

/** Outline lists the headings. The one with the cursor is marked; a click jumps to it. */
export function Outline({ onJump }: { onJump: (line: number) => void }) {
  const list = useRef<HTMLElement>(null);
  const top = Math.min(...headings.value.map((h) => h.level));
  const at = headings.value.findLastIndex((h) => h.line <= cursor.value);
  useEffect(() => list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [at]);
  return (
    <nav class="outline" aria-label="Outline" ref={list}>
      {!headings.value.length && (
        <p class="hint">Headings of the text appear here. Begin a line with # to write one.</p>
      )}
      <ul>
        {headings.value.map((h, i) => (
          <li key={i}>
            <button
              type="button"
              style={{ paddingInlineStart: `${10 + 14 * (h.level - top)}px` }}
              class={h.level === top ? "first" : ""}
              aria-current={i === at ? "location" : undefined}
              onClick={() => onJump(h.line)}
            >
              {h.title || "(empty)"}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
