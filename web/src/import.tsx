// The dialog that shows what is in a dropped folder or archive.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { offline, text as errorText } from "./api";
import { collect, type Collection } from "./collect";
import { isFull } from "./documents";
import { type Folder } from "./folder";
import { Dialog, Icon, Notice } from "./parts";

/** Import is the dialog of a folder or an archive. open saves the documents in the browser; convert sends
 * the folder or archive to the server as it is. Both reject on failure. */
export function Import({
  source,
  open,
  convert,
  onClose,
}: {
  source: Folder | File;
  open: (documents: Collection["documents"]) => Promise<unknown>;
  convert: () => Promise<unknown>;
  onClose: () => void;
}) {
  const found = useSignal<Collection | null>(null);
  const problem = useSignal("");
  const rejected = useSignal(false);
  const busy = useSignal(false);
  useEffect(() => {
    const look = async () => {
      const { folder, leftOut } =
        source instanceof File ? await (await import("./unzip")).unzip(source) : { folder: source, leftOut: [] };
      const collection = await collect(folder);
      found.value = { ...collection, leftOut: [...leftOut, ...collection.leftOut] };
    };
    look().catch((e: unknown) => {
      rejected.value = true;
      problem.value = errorText(e);
    });
  }, []);
  const act = async (f: () => Promise<unknown>, failed: string) => {
    problem.value = "";
    busy.value = true;
    try {
      await f();
      onClose();
    } catch (e) {
      const full = "The browser has no space left. Delete documents or free disk space, and try again.";
      const away = "The server does not answer. Try again when it is back.";
      problem.value = `${failed} ${isFull(e) ? full : offline.value ? away : errorText(e)}`;
    } finally {
      busy.value = false;
    }
  };
  const { documents, leftOut } = found.value ?? { documents: [], leftOut: [] };
  const files = documents.reduce((n, d) => n + d.assets.length, 0);
  return (
    <Dialog title={source.name} onClose={onClose}>
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      {!found.value && !rejected.value && <p class="hint">Reading…</p>}
      {found.value && (
        <>
          <p class="hint" role="status">
            {documents.length
              ? `${count(documents.length, "document")}${files ? ` with ${count(files, "file")}` : ""}.`
              : "There is no Markdown file to open."}
          </p>
          {documents.length > 0 && (
            <ul class="found" aria-label="Documents" tabIndex={0}>
              {documents.map((d) => (
                <li key={d.name}>
                  <Icon name="documents" /> {d.name}{" "}
                  <small>{d.assets.length > 0 && count(d.assets.length, "file")}</small>
                </li>
              ))}
            </ul>
          )}
          {leftOut.length > 0 && (
            <details open={leftOut.length < 4}>
              <summary>{leftOut.length === 1 ? "1 file is left out" : `${leftOut.length} files are left out`}</summary>
              <ul class="left-out" tabIndex={0} aria-label="Left out">
                {leftOut.slice(0, 200).map((l, i) => (
                  <li key={i}>{l}</li>
                ))}
              </ul>
            </details>
          )}
        </>
      )}
      {!rejected.value && (
        <div class="choices">
          {documents.length > 0 && (
            <button
              type="button"
              class="primary"
              disabled={busy.value}
              onClick={() => act(() => open(documents), "Nothing was opened.")}
            >
              Open {count(documents.length, "document")}
            </button>
          )}
          <button
            type="button"
            class="wide-button"
            disabled={busy.value || !found.value}
            onClick={() => act(convert, `${source.name} was not converted.`)}
          >
            Convert into one PDF
          </button>
        </div>
      )}
    </Dialog>
  );
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
