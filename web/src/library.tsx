// The documents of this browser: the button that names the open one, and the list.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { text as errorText } from "./api";
import { title } from "./document";
import { create, duplicate, fileName, list, name, open, remove, rename, restore, saving, show, zip } from "./documents";
import { Dialog, Icon, IconButton, Notice, ago, save as download } from "./parts";
import type { Entry } from "./store";

/** DocumentButton names the open document and opens the list. */
export function DocumentButton() {
  const opened = useSignal(false);
  const entry = list.value.find((e) => e.id === open.value.id);
  const now = entry?.name || title.value;
  return (
    <>
      <button
        type="button"
        class="quiet document"
        aria-haspopup="dialog"
        title="Documents"
        onClick={() => (opened.value = true)}
      >
        <Icon name="documents" />
        <span class="hidden">Documents: </span>
        <span>
          <b>{now}</b>
          {entry && <small>{saving.value ? "saving…" : "saved"}</small>}
        </span>
      </button>
      {opened.value && <Library onClose={() => (opened.value = false)} />}
    </>
  );
}

function Library({ onClose }: { onClose: () => void }) {
  const problem = useSignal("");
  const renaming = useSignal("");
  const removed = useSignal<Entry | null>(null);
  const act = (f: () => Promise<unknown>) => {
    problem.value = "";
    f().catch((e: unknown) => (problem.value = errorText(e)));
  };
  const undo = async () => {
    if (!(await restore([removed.value!.id])))
      problem.value = "The document is no longer kept: the browser needed its space.";
    removed.value = null;
  };
  return (
    <Dialog title="Documents" onClose={onClose}>
      <p class="hint">They are kept in this browser only. Clearing the site's data deletes them.</p>
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      {removed.value && (
        <Notice kind="info">
          Deleted {name(removed.value)}.{" "}
          <button type="button" class="quiet strong" onClick={() => act(undo)}>
            Undo
          </button>
        </Notice>
      )}
      <ul class="history" aria-label="Documents">
        {list.value.map((e) => (
          <li key={e.id} data-id={e.id}>
            {renaming.value === e.id ? (
              <NameField
                entry={e}
                onDone={(to) => {
                  renaming.value = "";
                  if (to !== null) act(() => rename(e.id, to));
                }}
              />
            ) : (
              <button
                type="button"
                class="open-document grow"
                aria-current={e.id === open.value.id}
                onClick={() => act(() => show(e.id).then(onClose))}
              >
                <b>{name(e)}</b>
                <small>
                  {e.id === open.value.id && "Open · "}
                  {ago(new Date(e.changed).toISOString())}
                </small>
              </button>
            )}
            <IconButton
              icon="edit"
              label={`Rename ${name(e)}`}
              onClick={() => (renaming.value = renaming.value === e.id ? "" : e.id)}
            />
            <IconButton icon="copy" label={`Duplicate ${name(e)}`} onClick={() => act(() => duplicate(e))} />
            <IconButton
              icon="download"
              label={`Export ${name(e)} as zip`}
              onClick={() => act(async () => download(await zip(e), fileName(e) + ".zip"))}
            />
            <IconButton
              icon="trash"
              label={`Delete ${name(e)}`}
              onClick={() =>
                act(async () => {
                  await remove([e.id]);
                  removed.value = e;
                })
              }
            />
          </li>
        ))}
      </ul>
      <button
        type="button"
        class="wide-button"
        onClick={() => act(() => create([{ name: "", text: "", assets: [] }]).then(onClose))}
      >
        <Icon name="plus" /> New document
      </button>
    </Dialog>
  );
}

/** NameField edits a name. Escape keeps the old name. */
function NameField({ entry, onDone }: { entry: Entry; onDone: (to: string | null) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current!.select(), []);
  return (
    <form
      class="field grow"
      onSubmit={(e) => {
        e.preventDefault();
        onDone(e.currentTarget.querySelector("input")!.value.trim());
      }}
    >
      <input
        aria-label="Name"
        ref={field}
        defaultValue={name(entry)}
        onKeyDown={(e) => {
          if (e.key !== "Escape") return;
          e.preventDefault();
          e.stopPropagation();
          onDone(null);
        }}
      />
    </form>
  );
}
