// Messages above the text: about saving, another tab, and opened documents.
import { text as errorText } from "./api";
import { keepCopy, reload, stale, trouble } from "./documents";
import { Notice } from "./parts";
import { opened } from "./receive";

/** Notices shows what concerns the open document. */
export function Notices({ onProblem }: { onProblem: (says: string) => void }) {
  const act = (f: () => Promise<unknown>) => void f().catch((e: unknown) => onProblem(errorText(e)));
  return (
    <>
      {trouble.value && <Notice kind="error">{trouble.value}</Notice>}
      {stale.value && (
        <Notice kind="error">
          Another tab has changed or deleted this document.{" "}
          <button type="button" class="quiet strong" onClick={() => act(reload)}>
            Reload it
          </button>
          <button type="button" class="quiet strong" onClick={() => act(keepCopy)}>
            Keep this text as a copy
          </button>
        </Notice>
      )}
      {opened.value && (
        <Notice kind="info" onClose={() => (opened.value = null)}>
          {opened.value.says}{" "}
          <button
            type="button"
            class="quiet strong"
            onClick={() => {
              act(opened.value!.undo);
              opened.value = null;
            }}
          >
            Undo
          </button>
        </Notice>
      )}
    </>
  );
}
