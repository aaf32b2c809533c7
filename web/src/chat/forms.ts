// The request for the next answer, in the forms of the three APIs.
import { can, chosenTools, messages, model, settings, type Message } from "./talk";
import type { Sample } from "../snippets";

/** Api is one of the APIs that answer conversations. */
export type Api = "Chat" | "Responses" | "Messages";

export const apis: Api[] = ["Chat", "Responses", "Messages"];

/** number returns a setting as a field of a request, or nothing if it is empty. */
function number(field: string, value: string): object {
  return value.trim() ? { [field]: Number(value) } : {};
}

/** asked returns the messages of the next request: all but failed answers. */
function asked(): Message[] {
  return messages.value.filter((m) => !m.error);
}

/** chatBody returns the request in OpenAI's form of chat completions. */
export function chatBody(to: Message[] = asked()): Record<string, unknown> {
  const { instructions, effort, temperature, longest } = settings.value;
  const content = (m: Message) =>
    m.images.length
      ? [{ type: "text", text: m.content }, ...m.images.map((url) => ({ type: "image_url", image_url: { url } }))]
      : m.content;
  return {
    model: model.value,
    messages: [
      ...(instructions.trim() ? [{ role: "system", content: instructions }] : []),
      ...to.map((m) => ({ role: m.role, content: content(m) })),
    ],
    stream: true,
    ...(can.value.includes("reasoning")
      ? { reasoning_format: "parsed", ...(effort ? { reasoning_effort: effort } : {}) }
      : {}),
    ...number("temperature", temperature),
    ...number("max_completion_tokens", longest),
    ...(chosenTools.value.length ? { tools: chosenTools.value.map((type) => ({ type })) } : {}),
  };
}

const responsesTools: Record<string, object> = {
  code_interpreter: { type: "code_interpreter", container: { type: "auto" } },
  browser_search: { type: "web_search" },
};

/** responsesBody returns the request in the form of OpenAI's Responses API. */
function responsesBody(to: Message[]): Record<string, unknown> {
  const { instructions, effort, temperature, longest } = settings.value;
  const content = (m: Message) =>
    m.images.length
      ? [{ type: "input_text", text: m.content }, ...m.images.map((image_url) => ({ type: "input_image", image_url }))]
      : m.content;
  return {
    model: model.value,
    ...(instructions.trim() ? { instructions } : {}),
    input: to.map((m) => ({ role: m.role, content: content(m) })),
    stream: true,
    ...(can.value.includes("reasoning") ? { reasoning: { summary: "auto", ...(effort ? { effort } : {}) } } : {}),
    ...number("temperature", temperature),
    ...number("max_output_tokens", longest),
    ...(chosenTools.value.length ? { tools: chosenTools.value.map((type) => responsesTools[type]) } : {}),
  };
}

const messagesTools: Record<string, object> = {
  code_interpreter: { type: "code_execution_20250522", name: "code_execution" },
  browser_search: { type: "web_search_20250305", name: "web_search" },
};

/** messagesBody returns the request in the form of Anthropic's Messages API. */
function messagesBody(to: Message[]): Record<string, unknown> {
  const { instructions, temperature, longest } = settings.value;
  const image = (url: string) => {
    const [, media_type, data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
    return { type: "image", source: data ? { type: "base64", media_type, data } : { type: "url", url } };
  };
  const content = (m: Message) =>
    m.images.length ? [...m.images.map(image), { type: "text", text: m.content }] : m.content;
  return {
    model: model.value,
    max_tokens: Number(longest) || 4096,
    ...(instructions.trim() ? { system: instructions } : {}),
    messages: to.map((m) => ({ role: m.role, content: content(m) })),
    stream: true,
    ...number("temperature", temperature),
    ...(chosenTools.value.length ? { tools: chosenTools.value.map((type) => messagesTools[type]) } : {}),
  };
}

/** sample returns the request for the last answer, or for the next one, as a program. Image data is shortened. */
export function sample(api: Api): Sample {
  const all = asked();
  const last = all.findLastIndex((m) => m.role === "user");
  const to: Message[] =
    last < 0 ? [{ role: "user", content: "Hello", images: [], reasoning: "", tools: [] }] : all.slice(0, last + 1);
  const [path, body] = {
    Chat: ["/v1/chat/completions", chatBody(to)] as const,
    Responses: ["/v1/responses", responsesBody(to)] as const,
    Messages: ["/v1/messages", messagesBody(to)] as const,
  }[api];
  const short = (k: string, v: unknown) =>
    typeof v === "string" && v.length > 60 && (v.startsWith("data:") || k === "data") ? v.slice(0, 40) + "…" : v;
  return { path, json: JSON.parse(JSON.stringify(body, short)) as unknown, stream: true };
}
