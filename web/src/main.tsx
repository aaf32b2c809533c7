// The page at /: its frame, the tabs, and who is signed in.
import { effect, signal, useSignal } from "@preact/signals";
import { render, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { key, keyWanted, offline, signIn, signOut, text as errorText } from "./api";
import { Convert, pane, shown, view } from "./convert";
import { jobs, ended, resume } from "./jobs";
import { History } from "./jobview";
import { Dialog, Icon, IconButton } from "./parts";

type Tab = "convert" | "export" | "chat" | "transcribe";

const tabs: { id: Tab; label: string; load?: () => Promise<ComponentType> }[] = [
  { id: "convert", label: "Convert" },
  { id: "export", label: "Page export", load: () => import("./export").then((m) => m.Export) },
  { id: "chat", label: "Chat", load: () => import("./chat").then((m) => m.Chat) },
  { id: "transcribe", label: "Transcribe", load: () => import("./transcribe").then((m) => m.Transcribe) },
];

const tab = signal<Tab>(fromHash());
const loaded = signal<Partial<Record<Tab, ComponentType>>>({ convert: Convert });
const failed = signal(false);

function fromHash(): Tab {
  return tabs.find((t) => "#" + t.id === location.hash)?.id ?? "convert";
}

addEventListener("hashchange", () => (tab.value = fromHash()));

effect(() => {
  const t = tabs.find((x) => x.id === tab.value)!;
  if (!t.load || loaded.value[t.id]) return;
  t.load().then(
    (c) => {
      failed.value = false;
      loaded.value = { ...loaded.peek(), [t.id]: c };
    },
    () => (failed.value = true),
  );
});

const schemes = ["auto", "light", "dark"] as const;
type Scheme = (typeof schemes)[number];
const scheme = signal<Scheme>(storedScheme());

function storedScheme(): Scheme {
  try {
    return schemes.find((s) => s === localStorage.getItem("presswork.scheme")) ?? "auto";
  } catch {
    return "auto";
  }
}

effect(() => {
  document.documentElement.dataset["scheme"] = scheme.value;
  try {
    localStorage.setItem("presswork.scheme", scheme.value);
  } catch {
    // It holds as long as the page.
  }
  dispatchEvent(new Event("resize"));
});

function SignIn({ onClose }: { onClose: () => void }) {
  const value = useSignal("");
  const problem = useSignal("");
  const submit = async (e: Event) => {
    e.preventDefault();
    try {
      await signIn(value.value.trim());
      onClose();
      resume();
    } catch (err) {
      problem.value = errorText(err);
    }
  };
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <form onSubmit={submit} class="sign-in">
        <p class="hint">This server wants an API key. It is kept until this tab is closed.</p>
        <div class="field">
          <label for="key">API key</label>
          <input id="key" type="password" autocomplete="current-password" required autofocus value={value.value} onInput={(e) => (value.value = e.currentTarget.value)} />
        </div>
        {problem.value && <p class="problem" role="alert">{problem.value}</p>}
        <button class="primary" type="submit">
          Sign in
        </button>
      </form>
    </Dialog>
  );
}

function App() {
  const history = useSignal(false);
  const signing = useSignal(false);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => keyWanted.subscribe((wanted) => wanted && (signing.value = true)), []);
  const choose = (t: Tab) => {
    location.hash = t === "convert" ? "" : t;
    tab.value = t;
  };
  const arrows = (e: KeyboardEvent) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const next = tabs[(tabs.findIndex((t) => t.id === tab.value) + step + tabs.length) % tabs.length]!;
    choose(next.id);
    list.current!.querySelector<HTMLElement>(`#tab-${next.id}`)!.focus();
  };
  const next = schemes[(schemes.indexOf(scheme.value) + 1) % schemes.length]!;
  const running = jobs.value.filter((j) => !ended(j)).length;
  return (
    <>
      <header class="bar">
        <a class="brand" href="/" aria-label="Presswork">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="7" />
            <path d="M9 25V7h8.200c4 0 6.600 2.300 6.600 6s-2.600 6-6.600 6H13v6zm4-9.400h3.700c1.900 0 3-.9 3-2.600s-1.100-2.600-3-2.600H13z" />
          </svg>
          <span>Presswork</span>
        </a>
        <div class="tabs" role="tablist" aria-label="What to do" ref={list} onKeyDown={arrows}>
          {tabs.map((t) => (
            <button
              type="button"
              key={t.id}
              id={`tab-${t.id}`}
              role="tab"
              aria-selected={tab.value === t.id}
              aria-controls={`panel-${t.id}`}
              tabIndex={tab.value === t.id ? 0 : -1}
              onClick={() => choose(t.id)}
            >
              {t.label}
            </button>
          ))}
        </div>
        <span class="grow" />
        <a class="docs-link" href="/docs">
          API
        </a>
        <button type="button" class="quiet" aria-label={running ? `History: ${running} running` : "History"} onClick={() => (history.value = true)} aria-haspopup="dialog">
          <Icon name="clock" /> <span class="label">History</span>
          {running > 0 && <span class="badge">{running}</span>}
        </button>
        <IconButton
          icon={{ auto: "auto", light: "sun", dark: "moon" }[scheme.value]}
          label={`Colours: ${scheme.value}; change to ${next}`}
          onClick={() => (scheme.value = next)}
        />
        {key.value ? (
          <button type="button" class="quiet" onClick={signOut}>
            Sign out
          </button>
        ) : (
          keyWanted.value && (
            <button type="button" class="quiet" onClick={() => (signing.value = true)}>
              <Icon name="key" /> Sign in
            </button>
          )
        )}
      </header>
      {offline.value && (
        <p class="offline" role="alert">
          The server does not answer. What you write is kept in this browser.
        </p>
      )}
      <main>
        <h1 class="hidden">Presswork studio</h1>
        {tabs.map((t) => {
          const Body = loaded.value[t.id];
          const open = tab.value === t.id;
          return (
            <div key={t.id} id={`panel-${t.id}`} class="tab" role="tabpanel" aria-labelledby={`tab-${t.id}`} hidden={!open}>
              {Body ? <Body /> : open && <p class="empty">{failed.value ? "This part did not load. Load the page again: the server may be newer than it." : "…"}</p>}
            </div>
          );
        })}
      </main>
      {history.value && (
        <History
          onClose={() => (history.value = false)}
          onShow={(j) => {
            choose("convert");
            shown.value = j.id;
            view.value = "pdf";
            pane.value = "page";
            history.value = false;
          }}
        />
      )}
      {signing.value && <SignIn onClose={() => (signing.value = false)} />}
    </>
  );
}

// Turndown asks at its start whether HTML can be parsed, by parsing none. No other
// text becomes HTML unseen.
(window as unknown as { trustedTypes?: { createPolicy(name: string, rules: object): void } }).trustedTypes?.createPolicy("default", {
  createHTML: (html: string) => (html === "" ? html : null),
});

// What was under way when the page was left is shown again.
shown.value = jobs.value.find((j) => j.kind === "conversion" && !ended(j))?.id ?? null;
resume();
render(<App />, document.getElementById("app")!);
