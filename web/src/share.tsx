// A link to a result for people without a key.
import { useSignal } from "@preact/signals";
import { post, text as errorText } from "./api";
import { discard, type Job } from "./jobs";
import { CopyButton, Dialog, Notice } from "./parts";

const day = 86_400;

/** lifetimes are the choices for how long a link works, in seconds. */
const lifetimes: [number, string][] = [
  [3600, "1 hour"],
  [day, "1 day"],
  [7 * day, "7 days"],
  [30 * day, "30 days"],
];

interface Link {
  url: string;
  expires_at: string;
}

/** ShareDialog creates a link to the result of a job. */
export function ShareDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const lifetime = useSignal(day);
  const link = useSignal<{ address: string; until: string } | null>(null);
  const problem = useSignal("");
  const act = (f: () => Promise<unknown>) => {
    problem.value = "";
    f().catch((e: unknown) => (problem.value = errorText(e)));
  };
  const create = async () => {
    const made = (await (await post(`/api/artifacts/${job.id}/share`, { expires_in: lifetime.value })).json()) as Link;
    const until = new Date(made.expires_at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
    link.value = { address: new URL(made.url, location.href).href, until };
  };
  const name = job.artifact?.filename ?? job.title;
  const local = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  return (
    <Dialog title="Share the result" onClose={onClose}>
      <p class="hint">
        Anyone with the link can open <b>{name}</b> without a key until the link expires. It opens nothing else.
      </p>
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      <form
        class="share"
        onSubmit={(e) => {
          e.preventDefault();
          act(create);
        }}
      >
        <div class="field">
          <label for="lifetime">The link works for</label>
          <select
            id="lifetime"
            value={lifetime.value}
            onChange={(e) => (lifetime.value = Number(e.currentTarget.value))}
          >
            {lifetimes.map(([seconds, label]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <button type="submit" class="primary">
          Create link
        </button>
      </form>
      {link.value && (
        <div class="link" role="status">
          <div class="field">
            <label for="share-link">Works until {link.value.until}</label>
            <input id="share-link" readOnly value={link.value.address} onFocus={(e) => e.currentTarget.select()} />
          </div>
          <CopyButton text={() => link.value!.address} label="Copy link" />
        </div>
      )}
      {local && <p class="hint">You opened the studio on this computer, so the link works on this computer only.</p>}
      <p class="hint">
        Links end when the result is deleted.{" "}
        <button type="button" class="quiet strong inline" onClick={() => act(() => discard(job.id).then(onClose))}>
          Delete the result
        </button>
      </p>
    </Dialog>
  );
}
