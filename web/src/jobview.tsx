// One job with its progress and result, and the list of this browser's jobs.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { text as errorText } from "./api";
import { cancel, ended, fetchArtifact, find, forget, jobs, refresh, type Job } from "./jobs";
import { kinds } from "./kinds";
import { Lazily } from "./lazily";
import { Dialog, Icon, IconButton, ago, bytes, save } from "./parts";

const codeDialog = () => import("./late").then((m) => m.CodeDialog);
const shareDialog = () => import("./late").then((m) => m.ShareDialog);

const stages: Record<string, string> = {
  queued: "Waiting for a worker",
  analyzing: "Reading the text",
  rendering: "Rendering",
  printing: "Printing",
  storing: "Saving the result",
  done: "Done",
};

/** says describes a job's status in words. */
export function says(j: Job): string {
  if (j.gone) return "Expired";
  switch (j.status) {
    case "completed":
      return [
        j.artifact?.pages ? `${j.artifact.pages} ${j.artifact.pages === 1 ? "page" : "pages"}` : "Done",
        j.artifact ? bytes(j.artifact.size) : "",
      ]
        .filter(Boolean)
        .join(", ");
    case "failed":
      return j.error?.message ?? "Failed";
    case "cancelled":
      return "Cancelled";
    default: {
      const ahead = j.status === "queued" && j.queue_position ? `, ${j.queue_position} ahead` : "";
      return (stages[j.stage] ?? j.stage) + ahead;
    }
  }
}

/** Bar shows a job's progress. */
export function Bar({ j }: { j: Job }) {
  const value = ended(j) && j.status === "completed" ? 100 : j.progress;
  return (
    <div
      class={`progress ${j.status}`}
      role="progressbar"
      aria-label={`Progress of ${j.title}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value}
      aria-valuetext={says(j)}
    >
      <i style={{ width: `${Math.max(value, ended(j) ? 0 : 4)}%` }} />
    </div>
  );
}

/** download saves the result of a job. */
async function download(j: Job): Promise<void> {
  save(await fetchArtifact(j.id), j.artifact?.filename ?? "document.pdf");
}

/** JobView shows a job and its actions. onLine, if given, shows a line of the text. */
export function JobView({ id, onLine, onShow }: { id: string; onLine?: (line: number) => void; onShow?: () => void }) {
  const code = useSignal(false);
  const sharing = useSignal(false);
  const problem = useSignal("");
  const j = find(id);
  if (!j) return null;
  const attempt = (f: () => Promise<void>) => () => {
    problem.value = "";
    f().catch((e: unknown) => (problem.value = errorText(e)));
  };
  const warnings = j.warnings ?? [];
  return (
    <section class={`job ${j.status}`} aria-label="Job" data-status={j.status}>
      <Bar j={j} />
      <div class="job-line">
        <p class="says" role="status">
          {j.status === "completed" && <Icon name="check" />}
          {j.status === "failed" && <Icon name="alert" />}
          <b>{j.title}</b> <span>{says(j)}</span>
        </p>
        <span class="job-actions">
          {j.status === "completed" && !j.gone && (
            <>
              {onShow && (
                <button type="button" class="quiet" onClick={onShow}>
                  Show
                </button>
              )}
              <button type="button" class="quiet strong" onClick={attempt(() => download(j))}>
                <Icon name="download" /> Download
              </button>
              <button type="button" class="quiet" onClick={() => (sharing.value = true)} aria-haspopup="dialog">
                <Icon name="share" /> Share
              </button>
            </>
          )}
          {!ended(j) && (
            <button type="button" class="quiet" onClick={attempt(() => cancel(j.id))}>
              Cancel
            </button>
          )}
          {j.sample && (
            <button type="button" class="quiet" onClick={() => (code.value = true)} aria-haspopup="dialog">
              <Icon name="code" /> Copy as…
            </button>
          )}
        </span>
      </div>
      {problem.value && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {warnings.map((w, i) => (
            <li key={i}>
              {w.line && onLine ? (
                <button type="button" class="warning" onClick={() => onLine(w.line!)}>
                  <span class="where">Line {w.line}</span> {w.message}
                </button>
              ) : (
                <span class="warning">{w.message}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {sharing.value && <Lazily load={shareDialog} props={{ job: j, onClose: () => (sharing.value = false) }} />}
      {code.value && <Lazily load={codeDialog} props={{ sample: j.sample!, onClose: () => (code.value = false) }} />}
    </section>
  );
}

/** Result shows a job's artifact: a PDF in the browser's viewer, or an image. */
export function Result({ id }: { id: string }) {
  const blob = useSignal<{ url: string; type: string } | null>(null);
  const problem = useSignal("");
  const j = find(id);
  const status = j?.status;
  const shows = /^(image\/|application\/pdf)/.test(j?.artifact?.content_type ?? "application/pdf");
  useEffect(() => {
    blob.value = null;
    problem.value = "";
    if (status !== "completed" || !shows) return;
    let url = "";
    let left = false;
    fetchArtifact(id).then(
      (b) => {
        if (left) return;
        const type = find(id)?.artifact?.content_type ?? "application/pdf";
        // Set the type here: the response must never be shown as an HTML page.
        url = URL.createObjectURL(new Blob([b], { type: type.startsWith("image/") ? type : "application/pdf" }));
        blob.value = { url, type };
      },
      (e: unknown) => (problem.value = errorText(e)),
    );
    return () => {
      left = true;
      URL.revokeObjectURL(url);
    };
  }, [id, status, shows]);
  if (!j) return null;
  if (status === "completed" && !shows)
    return <p class="empty">{j.artifact!.filename} cannot be shown here. Download it instead.</p>;
  if (problem.value)
    return (
      <p class="empty" role="alert">
        {problem.value}
      </p>
    );
  if (!blob.value) return <p class="empty">{ended(j) && status !== "completed" ? says(j) : "…"}</p>;
  if (blob.value.type.startsWith("image/"))
    return (
      <div class="picture">
        <img src={blob.value.url} alt={`Picture of ${j.title}`} />
      </div>
    );
  if (navigator.pdfViewerEnabled)
    return <iframe class="pdf" title={`PDF: ${j.title}`} src={blob.value.url + "#navpanes=0&view=FitH"} />;
  return (
    <div class="empty">
      <p>This browser cannot show PDFs in a page.</p>
      <p>
        <a class="button" href={blob.value.url} target="_blank" rel="noopener">
          Open the PDF
        </a>
      </p>
    </div>
  );
}

/** History lists this browser's jobs. */
export function History({ onClose, onShow }: { onClose: () => void; onShow: (j: Job) => void }) {
  const problem = useSignal("");
  const act = (f: () => Promise<void>) => () => void f().catch((e: unknown) => (problem.value = errorText(e)));
  return (
    <Dialog title="History" onClose={onClose}>
      {jobs.value.length === 0 && (
        <p class="hint">No jobs yet. Your conversions, exports and transcripts appear here, in this browser only.</p>
      )}
      {problem.value && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      <ul class="history">
        {jobs.value.map((j) => (
          <li key={j.id} data-status={j.status}>
            <div class="grow">
              <b>{j.title}</b>
              <small>
                {j.kind === "conversion" ? j.theme : kinds[j.kind]} · {ago(j.created)} · {says(j)}
              </small>
              {!ended(j) && <Bar j={j} />}
            </div>
            {j.status === "completed" && !j.gone && (
              <>
                {j.kind !== "transcription" && (
                  <button type="button" class="quiet" onClick={act(() => refresh(j.id).then(() => onShow(j)))}>
                    Show
                  </button>
                )}
                <IconButton icon="download" label={`Download ${j.title}`} onClick={act(() => download(j))} />
              </>
            )}
            {!ended(j) && <IconButton icon="close" label={`Cancel ${j.title}`} onClick={act(() => cancel(j.id))} />}
          </li>
        ))}
      </ul>
      {jobs.value.some(ended) && (
        <button type="button" class="quiet" onClick={forget}>
          Clear list
        </button>
      )}
    </Dialog>
  );
}
