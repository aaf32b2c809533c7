// A message of the conversation: reasoning, calls of tools, the answer with its sources, tokens, time and cost.
import { useSignal } from "@preact/signals";
import { Markdown } from "../markdown";
import { CopyButton, Icon, IconButton, Notice } from "../parts";
import type { Citation, Executed, Message } from "./talk";

const toolNames: Record<string, [icon: string, label: string]> = {
  python: ["code", "Ran code"],
  browser_search: ["search", "Searched the web"],
  browser_open: ["outside", "Opened a page"],
  browser_find: ["search", "Searched in a page"],
};

/** domain returns the host of an address, or "". */
function domain(url: string): string {
  return /^https?:\/\/(?:www\.)?([^/?#]+)/i.exec(url)?.[1] ?? "";
}

/** ExternalLink links to a page, or shows its title only if the address is not one of the web. */
function ExternalLink({ url, title }: { url: string; title: string }) {
  return /^https?:/i.test(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {title || domain(url)}
    </a>
  ) : (
    <>{title || url}</>
  );
}

/** Tool shows a call of a built-in tool: its input, output, pages and figures. */
function Tool({ t }: { t: Executed }) {
  let args = t.arguments;
  try {
    const parsed = JSON.parse(t.arguments) as Record<string, unknown>;
    args = Object.values(parsed).map(String).join("\n");
  } catch {
    // Not JSON: show the arguments unchanged.
  }
  const [icon, label] = toolNames[t.name] ?? ["code", t.name];
  const found = t.search_results?.results ?? [];
  return (
    <details class="tool">
      <summary>
        <Icon name={icon} /> <b>{label}</b> <span>{args.split("\n")[0]}</span>
      </summary>
      <pre tabIndex={0} aria-label={`Input of ${label}`}>
        {args}
      </pre>
      {found.length > 0 && (
        <ol class="results">
          {found.map((r, i) => (
            <li key={i}>
              <ExternalLink {...r} /> <small>{domain(r.url)}</small>
            </li>
          ))}
        </ol>
      )}
      {t.code_results?.map((r, i) =>
        r.png ? <img key={i} alt={`Figure ${i + 1}`} src={"data:image/png;base64," + r.png} /> : null,
      )}
      {!found.length && t.output && (
        <pre tabIndex={0} class="output" aria-label={`Output of ${label}`}>
          {t.output}
        </pre>
      )}
    </details>
  );
}

/** cited returns an answer with a numbered link for each citation, and the pages in the order of their numbers. Marks
 * of unknown pages are left out. */
function cited(text: string, citations: Citation[] = []): [text: string, sources: Citation[]] {
  const sources: Citation[] = [];
  let out = "";
  let at = 0;
  const chars = citations.length ? Array.from(text) : [];
  for (const c of [...citations].sort((a, b) => a.start_index - b.start_index)) {
    if (c.start_index < at) continue;
    let n = sources.findIndex((s) => s.url === c.url);
    if (n < 0) n = sources.push(c) - 1;
    const url = c.url.replace(/[()<>\s]/g, (x) => "%" + x.charCodeAt(0).toString(16).padStart(2, "0"));
    out += chars.slice(at, c.start_index).join("") + `[^${n + 1}](${url})`;
    at = c.end_index;
  }
  out += citations.length ? chars.slice(at).join("") : text;
  return [out.replace(/【\d+†[^】]{0,260}】/g, ""), sources];
}

const few = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });

/** price formats a cost in the operator's currency. */
export function price(cost: number): string {
  return cost >= 1 ? cost.toFixed(2) : few.format(cost);
}

/** Spent shows the model, tokens, time and cost of an answer. */
function Spent({ m }: { m: Message }) {
  const { prompt_tokens, completion_tokens, completion_tokens_details, total_time, estimated } = m.usage ?? {};
  const thinking = completion_tokens_details?.reasoning_tokens;
  const facts = [
    m.stopped && "Stopped",
    m.model,
    prompt_tokens !== undefined && `${estimated ? "about " : ""}${prompt_tokens.toLocaleString("en")} tokens in`,
    completion_tokens !== undefined &&
      `${completion_tokens.toLocaleString("en")} out${thinking ? ` (${thinking.toLocaleString("en")} thinking)` : ""}`,
    total_time && `${total_time.toFixed(1)} s`,
    m.cost !== undefined && `cost ${price(m.cost)}`,
  ];
  return <small class="spent">{facts.filter(Boolean).join(" · ")}</small>;
}

/** Edit changes a question. onDone gets the new text, or null if nothing is to be sent. */
function Edit({ m, onDone }: { m: Message; onDone: (text: string | null) => void }) {
  const text = useSignal(m.content);
  const send = () => text.value.trim() && onDone(text.value.trim());
  return (
    <div class="box edit">
      <textarea
        aria-label="Edit the message"
        rows={2}
        value={text.value}
        ref={(e) => e?.focus()}
        onInput={(e) => (text.value = e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === "Escape") onDone(null);
          if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
          e.preventDefault();
          send();
        }}
      />
      <button type="button" class="quiet" onClick={() => onDone(null)}>
        Cancel
      </button>
      <button type="button" class="quiet strong" onClick={send}>
        Send again
      </button>
    </div>
  );
}

/** Question is a message of the user. onEdit gets the new text; it is missing while an answer is being written. */
export function Question({ m, onEdit }: { m: Message; onEdit?: (text: string) => void }) {
  const editing = useSignal(false);
  return (
    <article class="said user" aria-label="You">
      {m.images.length > 0 && (
        <div class="pictures">
          {m.images.map((url, i) => (
            <img key={i} src={url} alt={`Picture ${i + 1}`} />
          ))}
        </div>
      )}
      {onEdit && !editing.value && (
        <p class="actions">
          <IconButton icon="edit" label="Edit and send again" onClick={() => (editing.value = true)} />
        </p>
      )}
      {editing.value && onEdit ? (
        <Edit
          m={m}
          onDone={(text) => {
            editing.value = false;
            if (text !== null) onEdit(text);
          }}
        />
      ) : (
        m.content && <p class="plain">{m.content}</p>
      )}
    </article>
  );
}

/** Answer is a message of the model. live is set while the model writes it. */
export function Answer({ m, live }: { m: Message; live: boolean }) {
  const [text, sources] = cited(m.content, m.citations);
  const thinking = live && !m.content;
  const seconds = Math.round((m.thought ?? 0) / 1000);
  return (
    <article class="said assistant" aria-label="Model" aria-busy={live}>
      {m.reasoning && (
        <details class="reasoning">
          <summary>
            <Icon name="spark" /> {thinking ? "Thinking…" : seconds ? `Thought for ${seconds} s` : "Thought"}
          </summary>
          <Markdown text={m.reasoning} />
        </details>
      )}
      {m.tools.map((t) => (
        <Tool key={t.index} t={t} />
      ))}
      <Markdown text={text} />
      {thinking && !m.reasoning && <p class="waiting">…</p>}
      {sources.length > 0 && (
        <ol class="sources" aria-label="Sources">
          {sources.map((s) => (
            <li key={s.url}>
              <ExternalLink {...s} /> <small>{domain(s.url)}</small>
            </li>
          ))}
        </ol>
      )}
      {m.error && <Notice kind="error">{m.error}</Notice>}
      {!live && (
        <p class="below">
          {m.content && <CopyButton text={() => m.content} />}
          <Spent m={m} />
        </p>
      )}
    </article>
  );
}
