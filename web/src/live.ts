// The page of `md2pdf --live`: the document as it will be printed, updated after each
// change. The scroll position stays.
import { Preview } from "./preview";

const frame = document.querySelector<HTMLIFrameElement>("iframe.sheet")!;
const notice = document.getElementById("notice")!;
const preview = new Preview(frame);
let latest = "";
let current: AbortController | null = null;

function say(text: string): void {
  notice.textContent = text;
  notice.hidden = text === "";
}

function show(): void {
  if (latest) preview.show(latest);
  preview.fit();
  document.title = frame.contentDocument?.title || "Presswork";
}

async function draw(): Promise<void> {
  current?.abort();
  const mine = (current = new AbortController());
  const page = await fetch("page", { signal: mine.signal });
  if (!page.ok) return; // there is none yet
  latest = await page.text();
  show();
}

frame.addEventListener("load", show);
new ResizeObserver(show).observe(frame);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);

const gone = "Presswork has ended, or cannot be reached. This is the page as it was.";
const events = new EventSource("events");
events.onmessage = (e) => {
  const { error } = JSON.parse(e.data as string) as { error: string };
  say(error);
  // Leaving the page cancels its requests.
  if (!error) draw().catch((e: unknown) => e instanceof DOMException || say(gone));
};
events.onerror = () => say(gone);
