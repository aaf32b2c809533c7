// The tab that talks with a model.
import { batch, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, aborted, key, post, text as errorText } from "./api";
import { Markdown } from "./markdown";
import { able, loadModels, loadTools, models, toolProblems } from "./models";
import { CodeDialog, CopyButton, Icon, IconButton, Notice, bytes, linked } from "./parts";
import type { Sample } from "./snippets";

interface Executed {
  index: number;
  name: string;
  arguments: string;
  output: string;
  code_results?: { text?: string; png?: string }[];
  search_results?: { results: { title: string; url: string }[] };
}

interface Message {
  role: "user" | "assistant";
  content: string;
  reasoning: string;
  images: string[];
  tools: Executed[];
  error?: string;
  stopped?: boolean;
  usage?: { completion_tokens?: number; total_time?: number };
}

interface Delta {
  content?: string | null;
  reasoning?: string | null;
  executed_tools?: Executed[];
}

const messages = signal<Message[]>([]);
const model = signal("");
const running = signal<AbortController | null>(null);
const last = signal<Sample | null>(null);
const builtins = signal<Record<string, boolean>>({});

/** tools are the built-in tools by their types, with names for people. */
const tools: Record<string, string> = { code_interpreter: "Code", browser_search: "Web" };

const maxImage = 15e6;

/** wire returns a message in the API's form. */
function wire(m: Message): unknown {
  if (!m.images.length) return { role: m.role, content: m.content };
  return { role: m.role, content: [{ type: "text", text: m.content }, ...m.images.map((url) => ({ type: "image_url", image_url: { url } }))] };
}

function change(f: (m: Message) => Message): void {
  messages.value = messages.value.map((m, i) => (i === messages.value.length - 1 ? f(m) : m));
}

async function ask(): Promise<void> {
  const abort = new AbortController();
  const can = able("chat").find((m) => m.id === model.value)?.capabilities ?? [];
  const chosen = Object.keys(tools).filter((type) => builtins.value[type] && can.includes("tools") && toolProblems.value?.(type) === "");
  const body = {
    model: model.value,
    messages: messages.value.filter((m) => !m.error).map(wire),
    stream: true,
    ...(can.includes("reasoning") ? { reasoning_format: "parsed" } : {}),
    ...(chosen.length ? { tools: chosen.map((type) => ({ type })) } : {}),
  };
  const short = JSON.parse(JSON.stringify(body, (k, v: unknown) => (k === "url" && typeof v === "string" && v.startsWith("data:") ? v.slice(0, 40) + "…" : v))) as unknown;
  batch(() => {
    running.value = abort;
    last.value = { path: "/v1/chat/completions", json: short, stream: true };
    messages.value = [...messages.value, { role: "assistant", content: "", reasoning: "", images: [], tools: [] }];
  });
  try {
    const send = (b: object) => post("/v1/chat/completions", b, { signal: abort.signal });
    const response = await send(body).catch((e: unknown) => {
      // Some models separate their reasoning by themselves and take no format.
      if (e instanceof ApiError && e.param === "reasoning_format") return send({ ...body, reasoning_format: undefined });
      throw e;
    });
    // Collect tokens, so that the page is drawn at most ten times a second.
    let content = "";
    let reasoning = "";
    let drawn = 0;
    const draw = (now: boolean) => {
      if (!now && performance.now() - drawn < 100) return;
      drawn = performance.now();
      const [c, r] = [content, reasoning];
      content = reasoning = "";
      if (c || r) change((m) => ({ ...m, content: m.content + c, reasoning: m.reasoning + r }));
    };
    for await (const data of eventsOf(response.body!)) {
      const chunk = JSON.parse(data) as { choices?: { delta: Delta; finish_reason?: string }[]; usage?: Message["usage"]; error?: { message: string } };
      if (chunk.error) throw new Error(chunk.error.message);
      const delta = chunk.choices?.[0]?.delta;
      content += delta?.content ?? "";
      reasoning += delta?.reasoning ?? "";
      draw(false);
      const done = delta?.executed_tools;
      if (done?.length) {
        draw(true);
        change((m) => ({ ...m, tools: [...m.tools.filter((t) => !done.some((d) => d.index === t.index)), ...done] }));
      }
      if (chunk.usage) change((m) => ({ ...m, usage: chunk.usage }));
    }
    draw(true);
  } catch (e) {
    change((m) => (aborted(e) ? { ...m, stopped: true } : { ...m, error: errorText(e) }));
  } finally {
    running.value = null;
  }
}

/** eventsOf yields the data of server-sent events until [DONE]. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (!line.startsWith("data:")) continue;
        const data = line.slice(5).trim();
        if (data === "[DONE]") return;
        yield data;
      }
    }
  } finally {
    void reader.cancel().catch(() => {}); // it may have ended
  }
}

function Tool({ t }: { t: Executed }) {
  let args = t.arguments;
  try {
    const parsed = JSON.parse(t.arguments) as Record<string, unknown>;
    args = Object.values(parsed).map(String).join("\n");
  } catch {
    // Not JSON: show the arguments unchanged.
  }
  return (
    <details class="tool">
      <summary>
        <b>{t.name}</b> <span>{args.split("\n")[0]}</span>
      </summary>
      <pre tabIndex={0}>{args}</pre>
      {t.code_results?.map((r, i) => (r.png ? <img key={i} alt="Figure" src={"data:image/png;base64," + r.png} /> : null))}
      <pre tabIndex={0} class="output">{t.output}</pre>
    </details>
  );
}

function Said({ m, live }: { m: Message; live: boolean }) {
  return (
    <article class={`said ${m.role}`} aria-label={m.role === "user" ? "You" : "Model"}>
      {m.images.map((url, i) => (
        <img key={i} src={url} alt={`Picture ${i + 1}`} />
      ))}
      {m.reasoning && (
        <details class="reasoning">
          <summary>{live && !m.content ? "Thinking…" : "Thought"}</summary>
          <Markdown text={m.reasoning} />
        </details>
      )}
      {m.tools.map((t) => (
        <Tool key={t.index} t={t} />
      ))}
      {m.role === "user" ? <p class="plain">{m.content}</p> : <Markdown text={m.content} />}
      {live && !m.content && !m.reasoning && <p class="waiting">…</p>}
      {m.error && <Notice kind="error">{m.error}</Notice>}
      {m.role === "assistant" && !live && (
        <p class="below">
          {m.content && <CopyButton text={() => m.content} />}
          <small>
            {[m.stopped && "Stopped", m.usage?.completion_tokens && `${m.usage.completion_tokens} tokens`, m.usage?.total_time && `${m.usage.total_time.toFixed(1)} s`]
              .filter(Boolean)
              .join(" · ")}
          </small>
        </p>
      )}
    </article>
  );
}

export function Chat() {
  const draft = useSignal("");
  const images = useSignal<string[]>([]);
  const problem = useSignal("");
  const code = useSignal(false);
  const list = useRef<HTMLDivElement>(null);

  useEffect(
    () =>
      key.subscribe(() => {
        problem.value = "";
        loadTools().catch(() => {}); // the message comes with the models
        loadModels().then(
          () => (model.value ||= able("chat")[0]?.id ?? ""),
          (e: unknown) => (problem.value = errorText(e)),
        );
      }),
    [],
  );
  // Scroll with new text only if the reader is at the end.
  useEffect(
    () =>
      messages.subscribe(() => {
        const e = list.current;
        if (!e) return;
        const near = e.scrollHeight - e.scrollTop - e.clientHeight < 80;
        if (near) requestAnimationFrame(() => (e.scrollTop = e.scrollHeight));
      }),
    [],
  );

  const send = () => {
    if (running.value || !model.value || (!draft.value.trim() && !images.value.length)) return;
    messages.value = [...messages.value, { role: "user", content: draft.value.trim(), images: images.value, reasoning: "", tools: [] }];
    draft.value = "";
    images.value = [];
    requestAnimationFrame(() => list.current && (list.current.scrollTop = list.current.scrollHeight));
    void ask();
  };
  const again = () => {
    const n = messages.value.findLastIndex((m) => m.role === "user");
    messages.value = messages.value.slice(0, n + 1);
    void ask();
  };
  const take = (files: File[]) => {
    for (const f of files) {
      if (!f.type.startsWith("image/")) problem.value = `${f.name} is not an image.`;
      else if (f.size > maxImage) problem.value = `${f.name} is too large (${bytes(f.size)}); the limit is ${bytes(maxImage)}.`;
      else {
        const r = new FileReader();
        r.onload = () => (images.value = [...images.value, String(r.result)]);
        r.readAsDataURL(f);
      }
    }
  };
  const chats = able("chat");
  const now = chats.find((m) => m.id === model.value);
  const offered = now?.capabilities?.includes("tools") && toolProblems.value ? Object.entries(tools) : [];
  return (
    <div
      class="chat"
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        take([...(e.dataTransfer?.files ?? [])]);
      }}
    >
      <div class="tools">
        <label for="model" class="hidden">
          Model
        </label>
        <select id="model" class="model" value={model.value} onChange={(e) => (model.value = e.currentTarget.value)}>
          {chats.map((m) => (
            <option key={m.id} value={m.id}>
              {m.id}
            </option>
          ))}
        </select>
        {offered.map(([type, label]) => {
          const why = toolProblems.value!(type);
          return (
            <button
              type="button"
              key={type}
              class="chip toggle"
              disabled={!!why}
              title={why}
              aria-pressed={!why && !!builtins.value[type]}
              onClick={() => (builtins.value = { ...builtins.value, [type]: !builtins.value[type] })}
            >
              {label}
            </button>
          );
        })}
        <span class="grow" />
        {last.value && (
          <button type="button" class="quiet" onClick={() => (code.value = true)} aria-haspopup="dialog">
            <Icon name="code" /> Copy as…
          </button>
        )}
        <button type="button" class="quiet" disabled={!messages.value.length || !!running.value} onClick={() => (messages.value = [])}>
          New
        </button>
      </div>
      <div class="talk" ref={list} role="log" aria-label="Conversation" tabIndex={0}>
        {models.value && !chats.length && (
          <div class="empty">
            <p>No models found.</p>
            <p class="hint">{linked("The operator of this server can add one: docs/inference.md.")}</p>
          </div>
        )}
        {chats.length > 0 && !messages.value.length && (
          <div class="empty">
            <p>Ask a question.</p>
            {offered.map(([type, label]) => {
              const why = toolProblems.value!(type);
              return (
                why && (
                  <p class="hint" key={type}>
                    {label} is not available: {why}.
                  </p>
                )
              );
            })}
          </div>
        )}
        {messages.value.map((m, i) => (
          <Said key={i} m={m} live={!!running.value && i === messages.value.length - 1} />
        ))}
      </div>
      <div class="ask">
        {problem.value && (
          <Notice kind="error" onClose={() => (problem.value = "")}>
            {problem.value}
          </Notice>
        )}
        {images.value.length > 0 && (
          <p class="row">
            {images.value.map((url, i) => (
              <span class="thumb" key={i}>
                <img src={url} alt={`Picture ${i + 1}`} />
                <IconButton icon="close" label={`Remove picture ${i + 1}`} onClick={() => (images.value = images.value.filter((_, n) => n !== i))} />
              </span>
            ))}
          </p>
        )}
        <div class="box">
          <textarea
            aria-label="Message"
            rows={2}
            placeholder="Write a message. Enter sends; Shift+Enter starts a new line."
            value={draft.value}
            onInput={(e) => (draft.value = e.currentTarget.value)}
            onKeyDown={(e) => {
              if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
              e.preventDefault();
              send();
            }}
            onPaste={(e) => {
              const files = [...(e.clipboardData?.files ?? [])];
              if (!files.length) return;
              e.preventDefault();
              take(files);
            }}
          />
          {!running.value && messages.value.some((m) => m.role === "assistant") && <IconButton icon="retry" label="Try again" onClick={again} />}
          {running.value ? (
            <IconButton icon="stop" label="Stop" round onClick={() => running.value?.abort()} />
          ) : (
            <IconButton icon="send" label="Send" round disabled={!model.value} onClick={send} />
          )}
        </div>
      </div>
      {code.value && <CodeDialog sample={last.value!} onClose={() => (code.value = false)} />}
    </div>
  );
}
