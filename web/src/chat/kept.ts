// The conversations that this browser keeps.
import { batch, effect, signal } from "@preact/signals";
import { isFull } from "../documents";
import * as store from "./store";
import { choose, messages, model, plain, running, settings, type Message, type Settings } from "./talk";

interface Content {
  messages: Message[];
  settings: Settings;
  model: string;
}

/** list holds the conversations, the newest first. */
export const list = signal<store.Chat[]>([]);

/** open is the entry of the open conversation, or null if it is not kept yet. */
export const open = signal<store.Chat | null>(null);

/** trouble is the reason why conversations are not kept, or "". */
export const trouble = signal("");

const channel = new BroadcastChannel("presswork.chats");
let kept: Message[] = messages.value;
let writing: Promise<void> = Promise.resolve();

async function load(): Promise<void> {
  list.value = await store.chats();
}

channel.onmessage = () => void load().catch(() => {});

/** problemOf returns a message about an error of the store. */
function problemOf(e: unknown): string {
  if (isFull(e))
    return "The browser has no space left, so the newest messages last only until you close this page. Delete conversations or documents.";
  return `This browser does not keep conversations (${e instanceof Error ? e.message : String(e)}).`;
}

/** start shows the conversation that was open last. */
export async function start(): Promise<void> {
  try {
    await load();
    const id = sessionStorage.getItem("presswork.chat");
    if (id && !messages.value.length) await show(id);
  } catch (e) {
    trouble.value = problemOf(e);
  }
}

/** titleOf returns the first words of a conversation. */
function titleOf(all: Message[]): string {
  const words = (all.find((m) => m.role === "user")?.content ?? "").trim().replace(/\s+/g, " ");
  return words.length > 60 ? words.slice(0, 59) + "…" : words || "Picture";
}

/** save stores the open conversation if it has changed. Problems are in trouble. */
export function save(): Promise<void> {
  return (writing = writing.then(async () => {
    const now = messages.value;
    if (!now.length || now === kept) return;
    try {
      const content: Content = { messages: now, settings: settings.value, model: model.value };
      const stored = await store.writeChat(open.value?.id ?? "", open.value?.version ?? 0, titleOf(now), content);
      kept = now;
      trouble.value = "";
      remember(stored);
      channel.postMessage("changed");
      await load();
    } catch (e) {
      trouble.value = problemOf(e);
    }
  }));
}

function remember(chat: store.Chat | null): void {
  open.value = chat;
  if (chat) sessionStorage.setItem("presswork.chat", chat.id);
  else sessionStorage.removeItem("presswork.chat");
}

/** settle stops an answer and stores the conversation. */
async function settle(): Promise<void> {
  const now = running.value;
  now?.stop();
  await now?.ended;
  await save();
}

/** fresh begins a conversation with the settings of the open one. */
export async function fresh(): Promise<void> {
  await settle();
  batch(() => {
    messages.value = kept = [];
    remember(null);
  });
}

/** show opens a conversation. */
export async function show(id: string): Promise<void> {
  await settle();
  const found = await store.readChat<Content>(id);
  if (!found) return load();
  batch(() => {
    // The page may have been closed while the model was answering.
    messages.value = kept = found.content.messages.map((m) =>
      m.role === "user" || m.usage || m.error ? m : { ...m, stopped: true },
    );
    settings.value = { ...plain, ...found.content.settings };
    model.value = found.content.model;
    choose();
    remember(found.chat);
  });
}

/** remove deletes a conversation and returns a function that brings it back. */
export async function remove(chat: store.Chat): Promise<() => Promise<void>> {
  if (open.value?.id === chat.id) await fresh();
  const found = await store.readChat<Content>(chat.id);
  await store.removeChat(chat.id);
  channel.postMessage("changed");
  await load();
  return async () => {
    if (!found) return;
    await store.writeChat("", 0, found.chat.title, found.content);
    channel.postMessage("changed");
    await load();
  };
}

// Store a question at once and an answer when it has ended.
effect(() => {
  const last = messages.value.at(-1);
  if (!running.value || last?.role === "user") void save();
});

addEventListener("pagehide", () => void save());
