// The list of conversations, next to the open one or as a dialog on narrow screens.
import { useSignal } from "@preact/signals";
import { text as errorText } from "../api";
import { Dialog, Icon, IconButton, Notice, ago } from "../parts";
import type { Chat } from "./store";
import { fresh, list, open, remove, show, trouble } from "./kept";

/** Conversations lists the kept conversations. onShow is called after one was opened. */
export function Conversations({ onShow }: { onShow?: () => void }) {
  const problem = useSignal("");
  const removed = useSignal<{ chat: Chat; undo: () => Promise<void> } | null>(null);
  const act = (work: Promise<unknown>) => {
    problem.value = "";
    work.catch((e: unknown) => (problem.value = errorText(e)));
  };
  return (
    <>
      <button type="button" class="wide-button" onClick={() => act(fresh().then(onShow))}>
        <Icon name="plus" /> New conversation
      </button>
      {(problem.value || trouble.value) && <Notice kind="error">{problem.value || trouble.value}</Notice>}
      {removed.value && (
        <Notice kind="info">
          Deleted.{" "}
          <button
            type="button"
            class="quiet strong inline"
            onClick={() => act(removed.value!.undo().then(() => (removed.value = null)))}
          >
            Undo
          </button>
        </Notice>
      )}
      <ul class="chat-list" aria-label="Conversations">
        {list.value.map((chat) => (
          <li key={chat.id} data-id={chat.id}>
            <button
              type="button"
              aria-current={chat.id === open.value?.id}
              onClick={() => act(show(chat.id).then(onShow))}
            >
              <span>{chat.title}</span>
              <small>{ago(new Date(chat.changed).toISOString())}</small>
            </button>
            <IconButton
              icon="trash"
              label={`Delete ${chat.title}`}
              onClick={() => act(remove(chat).then((undo) => (removed.value = { chat, undo })))}
            />
          </li>
        ))}
      </ul>
      {!list.value.length && <p class="hint">Conversations are kept in this browser only.</p>}
    </>
  );
}

/** ConversationsDialog shows the list on narrow screens. */
export function ConversationsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Conversations" onClose={onClose}>
      <Conversations onShow={onClose} />
    </Dialog>
  );
}
