// The dialog that lists the shortcuts.
import { commands, edits, shown, type Command } from "./commands";
import { Dialog } from "./parts";

/** others are the shortcuts outside the table of commands. */
const others: Pick<Command, "label" | "key">[] = [
  { label: "Convert", key: "Mod-Enter" },
  { label: "Shortcuts", key: "F1" },
  { label: "Next finding", key: "F8" },
  { label: "Finding before", key: "Shift-F8" },
  { label: "Menu of blocks, at the start of a line", key: "/" },
  { label: "Close a dialog or a panel", key: "Escape" },
];

/** Keys lists commands with their keys. */
function Keys({ title, list }: { title: string; list: Pick<Command, "label" | "key">[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {list.map((c) => (
          <div key={c.label}>
            <dt>{c.label}</dt>
            <dd>
              <kbd>{shown(c.key!)}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Shortcuts lists all shortcuts of the studio. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const keyed = commands.filter((c) => c.key);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div class="shortcuts">
        <Keys title="Text" list={keyed.filter((c) => !/^(h\d|text)$/.test(c.id))} />
        <Keys title="Headings" list={keyed.filter((c) => /^(h\d|text)$/.test(c.id))} />
        <Keys title="Editing" list={edits} />
        <Keys title="Studio" list={others} />
      </div>
      <p class="hint">
        Outside a text field, ? opens this list as well. In the toolbar, the arrow keys move between buttons.
      </p>
    </Dialog>
  );
}
