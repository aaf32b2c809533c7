// The operators' page at /admin: jobs of every key, workers, queues and keys.
import { signal, useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { json, keyWanted } from "../api";
import { Brand, KeyButton, SchemeButton, SignIn, TabList } from "../shell";
import { Deliveries } from "./deliveries";
import { JobDialog, shown } from "./detail";
import { fleet, follow, probe, trouble } from "./fleet";
import { Jobs } from "./jobs";
import { Keys, names } from "./keys";
import { Overview } from "./overview";

type Tab = "overview" | "jobs" | "dead" | "webhooks" | "keys";

const ids: Tab[] = ["overview", "jobs", "dead", "webhooks", "keys"];
const labels: Record<Tab, string> = {
  overview: "Overview",
  jobs: "Jobs",
  dead: "Dead letters",
  webhooks: "Webhooks",
  keys: "Keys",
};
const tab = signal<Tab>(fromHash());
/** round counts the dialog's actions; each one reloads the lists. */
const round = signal(0);

/** fromHash returns the tab that the address names, or the overview. */
function fromHash(): Tab {
  return ids.find((t) => "#" + t === location.hash) ?? "overview";
}

addEventListener("hashchange", () => (tab.value = fromHash()));

/** Body shows the open tab. An action in the dialog of a job makes the lists of jobs anew. */
function Body() {
  switch (tab.value) {
    case "overview":
      return <Overview />;
    case "keys":
      return <Keys />;
    case "webhooks":
      return <Deliveries />;
    default:
      return <Jobs key={tab.value + round.value} dead={tab.value === "dead"} keys={names.value} />;
  }
}

function App() {
  const signing = useSignal(false);
  const again = useSignal(0);
  useEffect(() => keyWanted.subscribe((wanted) => wanted && (signing.value = true)), []);
  useEffect(() => {
    if (!keyWanted.value && fleet.value && names.value.length === 0) {
      json<{ keys: { name: string }[] }>("/admin/api/keys").then(
        (a) => (names.value = a.keys.map((k) => k.name)),
        () => undefined, // The filter then offers only keys of listed jobs.
      );
    }
  }, [fleet.value === null]);
  const choose = (t: Tab) => {
    location.hash = t === "overview" ? "" : t;
    tab.value = t;
  };
  return (
    <>
      <header class="bar">
        <Brand />
        <TabList
          tabs={ids.map((id) => ({ id, label: labels[id], badge: id === "dead" ? (fleet.value?.dead ?? 0) : 0 }))}
          open={tab.value}
          onChoose={choose}
        />
        <span class="grow" />
        <a class="docs-link" href="/monitor">
          Monitor
        </a>
        <SchemeButton />
        <KeyButton onSignIn={() => (signing.value = true)} />
      </header>
      {trouble.value && !keyWanted.value && (
        <p class="offline" role="alert">
          {trouble.value} The page may be out of date.
        </p>
      )}
      <main>
        <h1 class="hidden">Presswork operations</h1>
        {ids.map((id) => (
          <div
            key={id}
            id={`panel-${id}`}
            class="tab"
            role="tabpanel"
            aria-labelledby={`tab-${id}`}
            hidden={tab.value !== id}
          >
            {tab.value === id && !keyWanted.value && <Body key={again.value} />}
            {tab.value === id && keyWanted.value && (
              <p class="empty">
                This page requires an operator's key: a key of API_KEY, or one with admin: true in keys.yaml.
              </p>
            )}
          </div>
        ))}
      </main>
      {shown.value && <JobDialog key={shown.value} onDone={() => round.value++} />}
      {signing.value && (
        <SignIn
          probe={probe}
          onClose={() => (signing.value = false)}
          onDone={() => {
            again.value++;
            follow();
          }}
        />
      )}
    </>
  );
}

follow();
render(<App />, document.getElementById("app")!);
