// The conversations in IndexedDB.
import { newId, result, transact } from "../store";

/** Chat describes a conversation without its messages. */
export interface Chat {
  id: string;
  title: string;
  /** changed is the time of the last message in milliseconds. */
  changed: number;
  version: number;
}

/** chats returns the conversations, the newest first. */
export async function chats(): Promise<Chat[]> {
  const all = await transact("readonly", (s) => result<Chat[]>(s.chats.getAll()));
  return all.sort((a, b) => b.changed - a.changed);
}

/** readChat returns a conversation and what writeChat stored as its content, or null. */
export function readChat<T>(id: string): Promise<{ chat: Chat; content: T } | null> {
  return transact("readonly", async (s) => {
    const chat = await result<Chat | undefined>(s.chats.get(id));
    return chat ? { chat, content: await result<T>(s.talks.get(id)) } : null;
  });
}

/** writeChat stores a conversation that was read at a version, 0 for a new one. If another tab has changed or deleted
 * it, a copy is stored. It returns the stored entry. Errors: QuotaExceededError. */
export function writeChat(id: string, version: number, title: string, content: unknown): Promise<Chat> {
  return transact("readwrite", async (s) => {
    const before = id && (await result<Chat | undefined>(s.chats.get(id)));
    const chat =
      before && before.version === version
        ? { ...before, title, version: version + 1 }
        : { id: newId(), title, version: 1, changed: 0 };
    chat.changed = Date.now();
    await result(s.chats.put(chat));
    await result(s.talks.put(content, chat.id));
    return chat;
  });
}

/** removeChat deletes a conversation. */
export async function removeChat(id: string): Promise<void> {
  await transact("readwrite", async (s) => {
    await result(s.chats.delete(id));
    await result(s.talks.delete(id));
  });
}
