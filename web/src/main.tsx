// The studio at /: its frame, tabs and sign-in.
import { effect, signal, useSignal } from "@preact/signals";
import { render, type ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { keyWanted, offline } from "./api";
import { Convert, pane, shown, view } from "./convert";
import { start } from "./documents";
import { jobs, ended, resume } from "./jobs";
import { History } from "./jobview";
import { Icon } from "./parts";
import { Brand, KeyButton, SchemeButton, SignIn, TabList } from "./shell";

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

function App() {
  const history = useSignal(false);
  const signing = useSignal(false);
  useEffect(() => keyWanted.subscribe((wanted) => wanted && (signing.value = true)), []);
  const choose = (t: Tab) => {
    location.hash = t === "convert" ? "" : t;
    tab.value = t;
  };
  const running = jobs.value.filter((j) => !ended(j)).length;
  return (
    <>
      <header class="bar">
        <Brand />
        <TabList tabs={tabs} open={tab.value} onChoose={choose} />
        <span class="grow" />
        <a class="docs-link" href="/docs">
          API
        </a>
        <button
          type="button"
          class="quiet"
          aria-label={running ? `History: ${running} running` : "History"}
          onClick={() => (history.value = true)}
          aria-haspopup="dialog"
        >
          <Icon name="clock" /> <span class="label">History</span>
          {running > 0 && <span class="badge">{running}</span>}
        </button>
        <SchemeButton />
        <KeyButton onSignIn={() => (signing.value = true)} />
      </header>
      {offline.value && (
        <p class="offline" role="alert">
          The server does not answer. Your text is kept in this browser.
        </p>
      )}
      <main>
        <h1 class="hidden">Presswork studio</h1>
        {tabs.map((t) => {
          const Body = loaded.value[t.id];
          const open = tab.value === t.id;
          return (
            <div
              key={t.id}
              id={`panel-${t.id}`}
              class="tab"
              role="tabpanel"
              aria-labelledby={`tab-${t.id}`}
              hidden={!open}
            >
              {Body ? (
                <Body />
              ) : (
                open && (
                  <p class="empty">
                    {failed.value ? "This tab did not load. Reload the page: the server may have been updated." : "…"}
                  </p>
                )
              )}
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
      {signing.value && (
        <SignIn probe="/api/conversion?limit=1" onClose={() => (signing.value = false)} onDone={resume} />
      )}
    </>
  );
}

// Turndown parses an empty string at start to see whether it can parse HTML. Reject
// every other string, so that no text becomes HTML unchecked.
(
  window as unknown as { trustedTypes?: { createPolicy(name: string, rules: object): void } }
).trustedTypes?.createPolicy("default", {
  createHTML: (html: string) => (html === "" ? html : null),
});

// Show the conversion that had not ended when the page was closed.
shown.value = jobs.value.find((j) => j.kind === "conversion" && !ended(j))?.id ?? null;
resume();
await start();
render(<App />, document.getElementById("app")!);
