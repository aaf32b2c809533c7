// The Page export tab: a web page as PDF or image.
import { signal, useSignal } from "@preact/signals";
import { post, text as errorText } from "./api";
import { add, jobs, type Job } from "./jobs";
import { JobView, Result } from "./jobview";
import { Notice } from "./parts";

type Kind = "pdf" | "png" | "jpeg" | "webp";

const address = signal("");
const shown = signal<string | null>(jobs.value.find((j: Job) => j.kind === "export")?.id ?? null);

export function Export() {
  const kind = useSignal<Kind>("pdf");
  const format = useSignal("A4");
  const landscape = useSignal(false);
  const background = useSignal(true);
  const fullPage = useSignal(true);
  const wait = useSignal("load");
  const width = useSignal("1280");
  const selector = useSignal("");
  const problem = useSignal("");
  const busy = useSignal(false);
  const picture = kind.value !== "pdf";

  const submit = async (e: Event) => {
    e.preventDefault();
    problem.value = "";
    busy.value = true;
    let url = address.value.trim();
    if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) url = "https://" + url;
    const options: Record<string, unknown> = { waitUntil: wait.value };
    if (picture) {
      options["type"] = kind.value;
      options["fullPage"] = fullPage.value;
      options["viewport"] = { width: Number(width.value), height: Math.round(Number(width.value) * 0.625) };
    } else {
      options["format"] = format.value;
      options["landscape"] = landscape.value;
      options["printBackground"] = background.value;
    }
    if (selector.value.trim()) options["waitForSelector"] = selector.value.trim();
    options["save"] = true;
    const path = picture ? "/export-screenshot" : "/export-pdf";
    try {
      const accepted = await (await post(path, { url, options }, { headers: { Prefer: "respond-async" } })).json();
      shown.value = add(accepted as Parameters<typeof add>[0], {
        kind: "export",
        title: url.replace(/^https?:\/\//, "").replace(/\/$/, ""),
        sample: { path, json: { url, options }, output: picture ? `page.${kind.value}` : "page.pdf" },
      });
    } catch (err) {
      problem.value = errorText(err);
    } finally {
      busy.value = false;
    }
  };

  return (
    <div class="export">
      <form onSubmit={submit} class="side">
        <h2>Export a web page</h2>
        <div class="field">
          <label for="url">Address</label>
          <input
            id="url"
            inputMode="url"
            required
            placeholder="https://example.com"
            value={address.value}
            onInput={(e) => (address.value = e.currentTarget.value)}
          />
        </div>
        <div class="field">
          <span class="label" id="kind-label">
            Format
          </span>
          <div class="segments" role="group" aria-labelledby="kind-label">
            {(["pdf", "png", "jpeg", "webp"] as const).map((k) => (
              <button type="button" key={k} aria-pressed={kind.value === k} onClick={() => (kind.value = k)}>
                {k.toUpperCase()}
              </button>
            ))}
          </div>
        </div>
        {picture ? (
          <>
            <div class="field">
              <label for="width">Window width</label>
              <select id="width" value={width.value} onChange={(e) => (width.value = e.currentTarget.value)}>
                {["390", "768", "1280", "1920"].map((w) => (
                  <option key={w} value={w}>
                    {w} px
                  </option>
                ))}
              </select>
            </div>
            <label class="switch">
              <input
                type="checkbox"
                role="switch"
                checked={fullPage.value}
                onChange={(e) => (fullPage.value = e.currentTarget.checked)}
              />
              <span>Full page</span>
            </label>
          </>
        ) : (
          <>
            <div class="field">
              <label for="format">Paper</label>
              <select id="format" value={format.value} onChange={(e) => (format.value = e.currentTarget.value)}>
                {["A3", "A4", "A5", "Letter", "Legal", "Tabloid"].map((f) => (
                  <option key={f}>{f}</option>
                ))}
              </select>
            </div>
            <label class="switch">
              <input
                type="checkbox"
                role="switch"
                checked={landscape.value}
                onChange={(e) => (landscape.value = e.currentTarget.checked)}
              />
              <span>Landscape</span>
            </label>
            <label class="switch">
              <input
                type="checkbox"
                role="switch"
                checked={background.value}
                onChange={(e) => (background.value = e.currentTarget.checked)}
              />
              <span>Print backgrounds</span>
            </label>
          </>
        )}
        <div class="field">
          <label for="wait">Ready when</label>
          <select id="wait" value={wait.value} onChange={(e) => (wait.value = e.currentTarget.value)}>
            <option value="load">page has loaded</option>
            <option value="domcontentloaded">text has loaded</option>
            <option value="networkidle0">network is idle</option>
          </select>
        </div>
        <div class="field">
          <label for="selector">Wait for selector</label>
          <input
            id="selector"
            placeholder="for example: main article"
            value={selector.value}
            onInput={(e) => (selector.value = e.currentTarget.value)}
          />
        </div>
        {problem.value && (
          <Notice kind="error" onClose={() => (problem.value = "")}>
            {problem.value}
          </Notice>
        )}
        <button class="primary" type="submit" disabled={busy.value}>
          Export
        </button>
        {shown.value && <JobView id={shown.value} />}
      </form>
      <section class="result" aria-label="Result">
        {shown.value ? <Result id={shown.value} /> : <p class="empty">The PDF or image appears here.</p>}
      </section>
    </div>
  );
}
