// The tab that talks with a model.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { key, text as errorText } from "./api";
import look from "./chat/chat.css" with { type: "text" };
import { ProgramDialog, SettingsDialog } from "./chat/dialogs";
import { start } from "./chat/kept";
import { Conversations, ConversationsDialog } from "./chat/list";
import { Answer, Question, price } from "./chat/message";
import { ask, builtins, choose, messages, model, question, resend, retry, running, settings } from "./chat/talk";
import { able, loadModels, loadTools, models, toolProblems } from "./models";
import { Icon, IconButton, Notice, bytes, linked } from "./parts";

const maxImage = 15e6;

const sheet = new CSSStyleSheet();
sheet.replaceSync(look);
document.adoptedStyleSheets.push(sheet);

/** offered returns the built-in tools that the chosen model can use: the type, the label, and why it is not available. */
function offered(): [type: string, label: string, why: string][] {
  const why = toolProblems.value;
  const now = able("chat").find((m) => m.id === model.value);
  return now?.capabilities?.includes("tools") && why
    ? Object.entries(builtins).map(([type, label]) => [type, label, why(type)])
    : [];
}

function Tools() {
  const dialog = useSignal("");
  const chosen = settings.value.tools;
  return (
    <div class="tools">
      <button
        type="button"
        class="icon-button chats-button"
        aria-label="Conversations"
        title="Conversations"
        aria-haspopup="dialog"
        onClick={() => (dialog.value = "list")}
      >
        <Icon name="chats" />
      </button>
      <label for="model" class="hidden">
        Model
      </label>
      <select id="model" class="model" value={model.value} onChange={(e) => (model.value = e.currentTarget.value)}>
        {able("chat").map((m) => (
          <option key={m.id} value={m.id}>
            {m.id}
          </option>
        ))}
      </select>
      {offered().map(([type, label, why]) => (
        <button
          type="button"
          key={type}
          class="chip toggle"
          disabled={!!why}
          title={why}
          aria-pressed={!why && !!chosen[type]}
          onClick={() => (settings.value = { ...settings.value, tools: { ...chosen, [type]: !chosen[type] } })}
        >
          {label}
        </button>
      ))}
      <span class="grow" />
      <button
        type="button"
        class="quiet"
        aria-label="Settings"
        title="Settings"
        aria-haspopup="dialog"
        onClick={() => (dialog.value = "settings")}
      >
        <Icon name="options" /> <span class="label">Settings</span>
      </button>
      <button
        type="button"
        class="quiet"
        aria-label="Copy as…"
        title="Copy as…"
        aria-haspopup="dialog"
        disabled={!model.value}
        onClick={() => (dialog.value = "program")}
      >
        <Icon name="code" /> <span class="label">Copy as…</span>
      </button>
      {dialog.value === "list" && <ConversationsDialog onClose={() => (dialog.value = "")} />}
      {dialog.value === "settings" && <SettingsDialog onClose={() => (dialog.value = "")} />}
      {dialog.value === "program" && <ProgramDialog onClose={() => (dialog.value = "")} />}
    </div>
  );
}

function Empty() {
  if (models.value && !able("chat").length)
    return (
      <div class="empty">
        <p>No models found.</p>
        <p class="hint">{linked("The operator of this server can add one: docs/inference.md.")}</p>
      </div>
    );
  if (!able("chat").length || messages.value.length) return null;
  return (
    <div class="empty">
      <p>Ask a question.</p>
      {offered().map(
        ([type, label, why]) =>
          why && (
            <p class="hint" key={type}>
              {label} is not available: {why}.
            </p>
          ),
      )}
    </div>
  );
}

/** Total shows the number of answers, their tokens and their cost. */
function Total() {
  const answers = messages.value.filter((m) => m.usage);
  if (answers.length < 2) return null;
  const sum = (f: (m: (typeof answers)[0]) => number | undefined) => answers.reduce((n, m) => n + (f(m) ?? 0), 0);
  const tokens = sum((m) => (m.usage!.prompt_tokens ?? 0) + (m.usage!.completion_tokens ?? 0));
  const priced = answers.some((m) => m.cost !== undefined);
  return (
    <small class="total">
      {answers.length} answers · {tokens.toLocaleString("en")} tokens{priced && ` · cost ${price(sum((m) => m.cost))}`}
    </small>
  );
}

function Ask({
  problem,
  images,
  onTake,
}: {
  problem: { value: string };
  images: { value: string[] };
  onTake: (files: File[]) => void;
}) {
  const draft = useSignal("");
  const send = () => {
    if (running.value || !model.value || (!draft.value.trim() && !images.value.length)) return;
    messages.value = [...messages.value, question(draft.value.trim(), images.value)];
    draft.value = "";
    images.value = [];
    void ask();
  };
  return (
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
              <IconButton
                icon="close"
                label={`Remove picture ${i + 1}`}
                onClick={() => (images.value = images.value.filter((_, n) => n !== i))}
              />
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
            onTake(files);
          }}
        />
        {!running.value && messages.value.some((m) => m.role === "assistant") && (
          <IconButton icon="retry" label="Try again" onClick={() => void retry()} />
        )}
        {running.value ? (
          <IconButton icon="stop" label="Stop" round onClick={() => running.value?.stop()} />
        ) : (
          <IconButton icon="send" label="Send" round disabled={!model.value} onClick={send} />
        )}
      </div>
      <Total />
    </div>
  );
}

function Talk() {
  const list = useRef<HTMLDivElement>(null);
  // Scroll with new text if the reader is at the end, and to a new question.
  useEffect(() => {
    let before = 0;
    return messages.subscribe((all) => {
      const e = list.current;
      if (!e) return;
      const near = e.scrollHeight - e.scrollTop - e.clientHeight < 80;
      if (near || all.length !== before) requestAnimationFrame(() => (e.scrollTop = e.scrollHeight));
      before = all.length;
    });
  }, []);
  const busy = !!running.value;
  return (
    <div class="talk" ref={list} role="log" aria-label="Conversation" tabIndex={0}>
      <Empty />
      {messages.value.map((m, i) =>
        m.role === "user" ? (
          <Question key={i} m={m} onEdit={busy ? undefined : (text) => void resend(i, text)} />
        ) : (
          <Answer key={i} m={m} live={busy && i === messages.value.length - 1} />
        ),
      )}
    </div>
  );
}

export function Chat() {
  const images = useSignal<string[]>([]);
  const problem = useSignal("");
  useEffect(() => void start(), []);
  useEffect(
    () =>
      key.subscribe(() => {
        problem.value = "";
        loadTools().catch(() => {}); // loadModels below fails as well and shows the message
        loadModels().then(choose, (e: unknown) => (problem.value = errorText(e)));
      }),
    [],
  );
  const take = (files: File[]) => {
    for (const f of files) {
      if (!f.type.startsWith("image/")) problem.value = `${f.name} is not an image.`;
      else if (f.size > maxImage)
        problem.value = `${f.name} is too large (${bytes(f.size)}); the limit is ${bytes(maxImage)}.`;
      else {
        const r = new FileReader();
        r.onload = () => (images.value = [...images.value, String(r.result)]);
        r.readAsDataURL(f);
      }
    }
  };
  return (
    <div
      class="chat"
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        take([...(e.dataTransfer?.files ?? [])]);
      }}
    >
      <aside class="chats" aria-label="Conversations">
        <Conversations />
      </aside>
      <section class="open-chat" aria-label="Open conversation">
        <Tools />
        <Talk />
        <Ask problem={problem} images={images} onTake={take} />
      </section>
    </div>
  );
}
