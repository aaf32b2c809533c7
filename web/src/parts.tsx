// Small parts that every tab uses.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

const paths: Record<string, string> = {
  open: "M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9.500h.01",
  bold: "M7 5h6a3.500 3.500 0 0 1 0 7H7zM7 12h7a3.500 3.500 0 0 1 0 7H7z",
  italic: "M10 5h8M6 19h8M14 5l-4 14",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  copy: "M9 9h10v11H9zM5 15V4h10",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  close: "M6 6l12 12M18 6L6 18",
  spark: "M12 3l2 6 6 2-6 2-2 6-2-6-6-2 6-2z",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 8v4l3 2",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.500 1.500M17.500 17.500L19 19M19 5l-1.500 1.500M6.500 17.500L5 19",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  code: "M8 7l-5 5 5 5M16 7l5 5-5 5",
  stop: "M7 7h10v10H7z",
  send: "M12 20V5M6 11l6-6 6 6",
  retry: "M4 12a8 8 0 1 0 3-6.200M7 2v4h4",
  mic: "M12 4a3 3 0 0 0-3 3v4a3 3 0 0 0 6 0V7a3 3 0 0 0-3-3M6 11a6 6 0 0 0 12 0M12 17v4",
  options: "M4 7h10M18 7h2M4 17h2M10 17h10M14 5v4M6 15v4",
  alert: "M12 4l9 16H3zM12 10v4M12 17h.01",
  check: "M5 13l4 4 10-10",
  documents: "M8 3h8l4 4v10H8zM16 3v4h4M8 7H4v14h12v-4",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  plus: "M12 5v14M5 12h14",
  outside: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  share: "M12 15V3M8 7l4-4 4 4M6 11H4v10h16V11h-2",
  folder: "M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2zM12 11v6M9 14h6",
  versions: "M4 12a8 8 0 1 0 3-6.200M7 2v4h4M12 8v4l3 2",
  outline: "M4 6h16M8 12h12M8 18h12M4 12h.01M4 18h.01",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5",
  help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M9.500 9.500a2.500 2.500 0 1 1 3.700 2.200c-.800.400-1.200.900-1.200 1.800M12 17h.01",
  bullets: "M9 6h11M9 12h11M9 18h11M4.500 6h.01M4.500 12h.01M4.500 18h.01",
  numbers:
    "M10 6h10M10 12h10M10 18h10M4 4l1.500-.500v5M3.800 14.500c0-1.800 2.600-1.800 2.600 0 0 1.200-2.600 2.200-2.600 3.500h2.800",
  tasks: "M4 5h5v5H4zM4 14h5v5H4zM13 7h7M13 17h7M5.500 7.500l1 1 2-3",
  quote: "M5 18c3-1 4-4 4-7V6H4v6h5M15 18c3-1 4-4 4-7V6h-5v6h5",
  table: "M4 5h16v14H4zM4 10h16M4 14.500h16M12 5v14",
  footnote: "M4 19V7l6 12V7M15 6h5M15 11h5v-5M15 11h2M15 15h5",
  cite: "M6 4h11a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2V5zM5 18a2 2 0 0 1 2-2h12M9 8h6",
  fence: "M4 5h16v14H4zM9 9.500L6.500 12 9 14.500M15 9.500l2.500 2.500-2.500 2.500",
  chats: "M4 5h16v11H10l-4 4v-4H4zM8 9h8M8 12h5",
  key: "M14 10a4 4 0 1 0-4 4l1-1h2v-2h2zM7 10h.01",
};

/** Icon is a decorative drawing; its button needs a label. */
export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** IconButton is a button without text; label is its accessible name. */
export function IconButton({
  icon,
  label,
  round,
  ...rest
}: { icon: string; label: string; round?: boolean } & JSX.IntrinsicElements["button"]) {
  return (
    <button
      type="button"
      class={round ? "icon-button round" : "icon-button"}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

/** linked turns references to pages of the manual, such as docs/rest.md#errors, into links. */
export function linked(text: string): ComponentChildren {
  const parts = text.split(/(\bdocs\/[\w-]+\.md(?:#[\w-]+)?)/);
  if (parts.length === 1) return text;
  return parts.map((part, i) =>
    i % 2 ? (
      <a key={i} href={"/" + part.replace(".md", "")} target="_blank">
        {part}
      </a>
    ) : (
      part
    ),
  );
}

/** Notice is a message that screen readers read out. */
export function Notice({
  kind,
  children,
  onClose,
}: {
  kind: "error" | "info";
  children: ComponentChildren;
  onClose?: () => void;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      <Icon name={kind === "error" ? "alert" : "check"} />
      <div class="grow">{typeof children === "string" ? linked(children) : children}</div>
      {onClose && <IconButton icon="close" label="Dismiss" onClick={onClose} />}
    </div>
  );
}

/** Dialog is modal. Escape or a click outside closes it; the focus then returns. */
export function Dialog({
  title,
  onClose,
  wide,
  children,
}: {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ComponentChildren;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? "wide" : ""}
      aria-label={title}
      onCancel={(e) => (e.preventDefault(), onClose())}
      onClick={(e) => e.target === ref.current && onClose()}
    >
      <div class="dialog">
        <header>
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** CopyButton copies a text and confirms it. */
export function CopyButton({ text, label = "Copy" }: { text: () => string; label?: string }) {
  const done = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      done.value = true;
      setTimeout(() => (done.value = false), 1500);
    } catch {
      // The browser forbids it; people can still select the text.
    }
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      <Icon name={done.value ? "check" : "copy"} />
      <span aria-live="polite">{done.value ? "Copied" : label}</span>
    </button>
  );
}

/** bytes formats a size in bytes. */
export function bytes(n: number): string {
  return n < 1000 ? `${n} B` : n < 1e6 ? `${Math.round(n / 1000)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}

/** ago formats a time relative to now. */
export function ago(iso: string): string {
  const s = (Date.now() - Date.parse(iso)) / 1000;
  if (s < 60) return "just now";
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (s < 3600) return format.format(-Math.round(s / 60), "minute");
  if (s < 86400) return format.format(-Math.round(s / 3600), "hour");
  return format.format(-Math.round(s / 86400), "day");
}

/** save hands a file to the browser's downloads. */
export function save(blob: Blob, name: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
