// Dialogs whose code is loaded at their first use.
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Dialog, Notice } from "./parts";

/** Lazily shows a dialog after it has loaded, or says that it did not load. */
export function Lazily<P extends { onClose: () => void }>({
  load,
  props,
}: {
  load: () => Promise<ComponentType<P>>;
  props: P;
}) {
  const body = useSignal<{ Body: ComponentType<P> } | "failed" | null>(null);
  useEffect(() => {
    load().then(
      (Body) => (body.value = { Body }),
      () => (body.value = "failed"),
    );
  }, []);
  if (body.value === "failed") {
    return (
      <Dialog title="This part did not load" onClose={props.onClose}>
        <Notice kind="error">Reload the page: the server may have been updated. Your documents are kept.</Notice>
      </Dialog>
    );
  }
  if (!body.value) return null;
  const { Body } = body.value;
  return <Body {...props} />;
}
