// The dialog that retries a failed conversion with other input.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { json, text as errorText } from "../api";
import { Dialog, Notice } from "../parts";
import type { Outcome } from "./detail";

interface Input {
  content: string;
  theme: string;
  output: string;
  options: Record<string, unknown>;
  files: string[];
}

/** EditDialog changes the input of a dead letter. onRetried gets the id of the new job. */
export function EditDialog({
  id,
  onClose,
  onRetried,
}: {
  id: string;
  onClose: () => void;
  onRetried: (id: string) => void;
}) {
  const input = useSignal<Input | null>(null);
  const options = useSignal("");
  const problem = useSignal("");
  const busy = useSignal(false);
  useEffect(() => {
    json<Input>(`/admin/api/jobs/${id}/input`).then(
      (i) => {
        input.value = i;
        options.value = JSON.stringify(i.options, null, 2);
      },
      (e: unknown) => (problem.value = errorText(e)),
    );
  }, [id]);

  const submit = async () => {
    busy.value = true;
    problem.value = "";
    try {
      const { content, theme, output } = input.value!;
      let parsed: unknown;
      try {
        parsed = JSON.parse(options.value.trim() || "{}");
      } catch (e) {
        throw new Error(`The options are not JSON: ${errorText(e)}.`);
      }
      const body = JSON.stringify({ content, theme, output, options: parsed });
      const answer = await json<Outcome>(`/admin/api/jobs/${id}/retry`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      onRetried(answer.job_id!);
    } catch (e) {
      problem.value = errorText(e);
    } finally {
      busy.value = false;
    }
  };

  const i = input.value;
  return (
    <Dialog title="Edit and retry" wide onClose={onClose}>
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      {!i && !problem.value && <p class="empty">…</p>}
      {i && (
        <form
          class="edit"
          onSubmit={(e) => {
            e.preventDefault();
            void submit();
          }}
        >
          <p class="hint">The new job has the same key and webhook. The failed job stays as it is.</p>
          <label>
            Markdown
            <textarea
              rows={14}
              spellcheck={false}
              value={i.content}
              onInput={(e) => (input.value = { ...i, content: e.currentTarget.value })}
            />
          </label>
          <div class="edit-row">
            <label>
              Theme
              <input value={i.theme} onInput={(e) => (input.value = { ...i, theme: e.currentTarget.value })} />
            </label>
            <label>
              Output
              <select value={i.output} onChange={(e) => (input.value = { ...i, output: e.currentTarget.value })}>
                {["pdf", "html", "epub", "png"].map((o) => (
                  <option key={o}>{o}</option>
                ))}
              </select>
            </label>
          </div>
          <label>
            Options, as JSON. A password is kept unless another is given.
            <textarea
              rows={5}
              spellcheck={false}
              value={options.value}
              onInput={(e) => (options.value = e.currentTarget.value)}
            />
          </label>
          {i.files.length > 0 && <p class="hint">Files that are kept: {i.files.join(", ")}</p>}
          <div class="edit-actions">
            <button type="button" class="quiet" onClick={onClose}>
              Back
            </button>
            <button type="submit" class="primary" disabled={busy.value}>
              Retry as a new job
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
