// Parts that all pages share: the bar, the colour scheme and sign-in.
import { effect, signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { key, keyWanted, signIn, signOut, text as errorText } from "./api";
import { Dialog, Icon, IconButton } from "./parts";
import { applyScheme, schemes, storedScheme, type Scheme } from "./scheme";

const scheme = signal<Scheme>(storedScheme());

effect(() => {
  applyScheme(scheme.value);
  dispatchEvent(new Event("resize"));
});

/** Brand is the logo; it links to the studio. */
export function Brand() {
  return (
    <a class="brand" href="/" aria-label="Presswork">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="7" />
        <path d="M9 25V7h8.200c4 0 6.600 2.300 6.600 6s-2.600 6-6.600 6H13v6zm4-9.400h3.700c1.900 0 3-.9 3-2.600s-1.100-2.600-3-2.600H13z" />
      </svg>
      <span>Presswork</span>
    </a>
  );
}

/** SchemeButton switches the colours: system, light, dark. */
export function SchemeButton() {
  const next = schemes[(schemes.indexOf(scheme.value) + 1) % schemes.length]!;
  return (
    <IconButton
      icon={{ auto: "auto", light: "sun", dark: "moon" }[scheme.value]}
      label={`Colours: ${scheme.value}; change to ${next}`}
      onClick={() => (scheme.value = next)}
    />
  );
}

/** KeyButton signs in if the server requires a key, and signs out. */
export function KeyButton({ onSignIn }: { onSignIn: () => void }) {
  if (key.value) {
    return (
      <button type="button" class="quiet" onClick={signOut}>
        Sign out
      </button>
    );
  }
  return (
    keyWanted.value && (
      <button type="button" class="quiet" onClick={onSignIn}>
        <Icon name="key" /> Sign in
      </button>
    )
  );
}

/** TabList shows the tabs of the bar; the arrow keys move between them. */
export function TabList<T extends string>({
  tabs,
  open,
  onChoose,
}: {
  tabs: { id: T; label: string; badge?: number }[];
  open: T;
  onChoose: (id: T) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const arrows = (e: KeyboardEvent) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const next = tabs[(tabs.findIndex((t) => t.id === open) + step + tabs.length) % tabs.length]!;
    onChoose(next.id);
    list.current!.querySelector<HTMLElement>(`#tab-${next.id}`)!.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Main" ref={list} onKeyDown={arrows}>
      {tabs.map((t) => (
        <button
          type="button"
          key={t.id}
          id={`tab-${t.id}`}
          role="tab"
          aria-selected={open === t.id}
          aria-controls={`panel-${t.id}`}
          tabIndex={open === t.id ? 0 : -1}
          onClick={() => onChoose(t.id)}
        >
          {t.label}
          {!!t.badge && <span class="badge">{t.badge}</span>}
        </button>
      ))}
    </div>
  );
}

/** SignIn asks for a key and checks it at the path probe. */
export function SignIn({ probe, onClose, onDone }: { probe: string; onClose: () => void; onDone: () => void }) {
  const value = useSignal("");
  const problem = useSignal("");
  const submit = async (e: Event) => {
    e.preventDefault();
    try {
      await signIn(value.value.trim(), probe);
      onClose();
      onDone();
    } catch (err) {
      problem.value = errorText(err);
    }
  };
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <form onSubmit={submit} class="sign-in">
        <p class="hint">This server requires an API key. The browser keeps it until you close this tab.</p>
        <div class="field">
          <label for="key">API key</label>
          <input
            id="key"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            value={value.value}
            onInput={(e) => (value.value = e.currentTarget.value)}
          />
        </div>
        {problem.value && (
          <p class="problem" role="alert">
            {problem.value}
          </p>
        )}
        <button class="primary" type="submit">
          Sign in
        </button>
      </form>
    </Dialog>
  );
}
