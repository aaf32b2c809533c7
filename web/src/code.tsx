// The dialog that shows a request as a program.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { key } from "./api";
import { CopyButton, Dialog } from "./parts";
import { languages, write, type Language, type Sample } from "./snippets";

/** CodeDialog shows a request as a program in several languages. The children choose the request. */
export function CodeDialog({
  sample,
  onClose,
  children,
}: {
  sample: Sample;
  onClose: () => void;
  children?: ComponentChildren;
}) {
  const lang = useSignal<Language>("curl");
  const program = write(lang.value, sample, key.value !== "", location.origin);
  return (
    <Dialog title="Do this with the API" onClose={onClose}>
      {children}
      <div class="segments" role="group" aria-label="Language">
        {languages.map((l) => (
          <button type="button" key={l} aria-pressed={l === lang.value} onClick={() => (lang.value = l)}>
            {l}
          </button>
        ))}
        <span class="grow" />
        <CopyButton text={() => program} />
      </div>
      <pre class="program" tabIndex={0} aria-label={`The request in ${lang.value}`}>
        {program}
      </pre>
      <p class="hint">
        <a href="/docs">The API documentation</a> lists every route and field.
      </p>
    </Dialog>
  );
}
