// The open conversation: its messages and settings, and the answer that is being written.
import { batch, computed, signal } from "@preact/signals";
import { ApiError, aborted, post, text as errorText } from "../api";
import { able, models, toolProblems } from "../models";
import { chatBody } from "./forms";

/** Executed is a call of a built-in tool, in the API's form. */
export interface Executed {
  index: number;
  name: string;
  arguments: string;
  output: string;
  code_results?: { text?: string; png?: string }[];
  search_results?: { results: { title: string; url: string }[] };
}

/** Citation is a citation mark in an answer: its range in characters, and the page that it cites. */
export interface Citation {
  start_index: number;
  end_index: number;
  url: string;
  title: string;
}

/** Usage is the API's usage of one answer. Times are in seconds. */
export interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
  completion_tokens_details?: { reasoning_tokens?: number };
  total_time?: number;
  estimated?: boolean;
}

/** Message is a message as it is kept in the browser. */
export interface Message {
  role: "user" | "assistant";
  content: string;
  reasoning: string;
  images: string[];
  tools: Executed[];
  citations?: Citation[];
  error?: string;
  stopped?: boolean;
  /** thought is how long the model reasoned, in milliseconds. */
  thought?: number;
  /** model is the model that answered; cost is in the operator's currency. */
  model?: string;
  usage?: Usage;
  cost?: number;
}

/** Settings apply to all answers of a conversation. Empty ones are left to the model. */
export interface Settings {
  instructions: string;
  effort: string;
  temperature: string;
  longest: string;
  tools: Record<string, boolean>;
}

interface Chunk {
  model?: string;
  choices?: {
    delta: {
      content?: string | null;
      reasoning?: string | null;
      executed_tools?: Executed[];
      annotations?: { type: string; url_citation: Citation }[];
    };
  }[];
  usage?: Usage;
  error?: { message: string };
}

/** plain are the settings of a new conversation. */
export const plain: Settings = { instructions: "", effort: "", temperature: "", longest: "", tools: {} };

export const messages = signal<Message[]>([]);
export const settings = signal<Settings>(plain);
export const model = signal("");

/** running is the answer that is being written, or null. */
export const running = signal<{ stop: () => void; ended: Promise<void> } | null>(null);

/** can reports whether the chosen model has a capability. */
export const can = computed(() => able("chat").find((m) => m.id === model.value)?.capabilities ?? []);

/** choose replaces a model that the server no longer has. */
export function choose(): void {
  const chats = able("chat");
  if (chats.length && !chats.some((m) => m.id === model.value)) model.value = chats[0]!.id;
}

/** builtins are the types of the built-in tools, with names for people. */
export const builtins: Record<string, string> = { code_interpreter: "Code", browser_search: "Web" };

/** chosenTools are the built-in tools that the next request names. */
export const chosenTools = computed(() =>
  Object.keys(builtins).filter(
    (type) => settings.value.tools[type] && can.value.includes("tools") && toolProblems.value?.(type) === "",
  ),
);

/** question returns a message of the user. */
export function question(content: string, images: string[]): Message {
  return { role: "user", content, images, reasoning: "", tools: [] };
}

function change(f: (m: Message) => Message): void {
  messages.value = messages.value.map((m, i) => (i === messages.value.length - 1 ? f(m) : m));
}

/** ask sends the conversation and writes the answer to its end. It returns when the answer has ended. */
export function ask(): Promise<void> {
  const abort = new AbortController();
  const ended = answer(abort.signal).finally(() => (running.value = null));
  running.value = { stop: () => abort.abort(), ended };
  return ended;
}

/** writer collects tokens, so that the page is drawn at most ten times a second. */
function writer() {
  let began = 0;
  let [content, reasoning] = ["", ""];
  let timer = 0;
  const flush = () => {
    clearTimeout(timer);
    timer = 0;
    const [c, r] = [content, reasoning];
    content = reasoning = "";
    if (c || r)
      change((m) => ({
        ...m,
        content: m.content + c,
        reasoning: m.reasoning + r,
        ...(r ? { thought: performance.now() - began } : {}),
      }));
  };
  return {
    flush,
    add: (c: string, r: string) => {
      content += c;
      reasoning += r;
      if (r) began ||= performance.now();
      if (c || r) timer ||= setTimeout(flush, 100);
    },
  };
}

async function answer(signal: AbortSignal): Promise<void> {
  const body = chatBody();
  messages.value = [...messages.value, { role: "assistant", content: "", reasoning: "", images: [], tools: [] }];
  const text = writer();
  try {
    const send = (b: object) => post("/v1/chat/completions", b, { signal });
    const response = await send(body).catch((e: unknown) => {
      // Some models separate their reasoning themselves and accept no format.
      if (e instanceof ApiError && e.param === "reasoning_format")
        return send({ ...body, reasoning_format: undefined });
      throw e;
    });
    for await (const data of eventsOf(response.body!)) {
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.error) throw new Error(chunk.error.message);
      const delta = chunk.choices?.[0]?.delta;
      text.add(delta?.content ?? "", delta?.reasoning ?? "");
      const done = delta?.executed_tools;
      const cited = delta?.annotations?.filter((a) => a.type === "url_citation").map((a) => a.url_citation);
      if (done?.length || cited?.length || chunk.usage) text.flush();
      if (done?.length)
        change((m) => ({ ...m, tools: [...m.tools.filter((t) => !done.some((d) => d.index === t.index)), ...done] }));
      if (cited?.length) change((m) => ({ ...m, citations: [...(m.citations ?? []), ...cited] }));
      if (chunk.usage) change((m) => ({ ...m, ...spent(chunk) }));
    }
    text.flush();
  } catch (e) {
    text.flush();
    change((m) => (aborted(e) ? { ...m, stopped: true } : { ...m, error: errorText(e) }));
  }
}

/** spent returns the model of an answer, its usage, and its cost if the model has a price. */
function spent({ usage, model: id }: Chunk): Partial<Message> {
  const price = models.value?.find((m) => m.id === id)?.price;
  if (!price) return { usage, model: id };
  const cost =
    ((usage!.prompt_tokens ?? 0) * price.input_per_m + (usage!.completion_tokens ?? 0) * price.output_per_m) / 1e6;
  return { usage, model: id, cost };
}

/** retry requests the last answer again. */
export function retry(): Promise<void> {
  const n = messages.value.findLastIndex((m) => m.role === "user");
  messages.value = messages.value.slice(0, n + 1);
  return ask();
}

/** resend replaces question n and all messages after it, and asks. */
export function resend(n: number, content: string): Promise<void> {
  return batch(() => {
    messages.value = [...messages.value.slice(0, n), { ...messages.value[n]!, content }];
    return ask();
  });
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
