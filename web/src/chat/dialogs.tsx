// The dialogs of a conversation: its settings, and its request as a program.
import { useSignal } from "@preact/signals";
import { CodeDialog } from "../code";
import { Dialog } from "../parts";
import { apis, sample, type Api } from "./forms";
import { can, settings, type Settings } from "./talk";

/** SettingsDialog edits the settings for the next answers of the conversation. */
export function SettingsDialog({ onClose }: { onClose: () => void }) {
  const set = (name: keyof Settings) => (e: { currentTarget: { value: string } }) =>
    (settings.value = { ...settings.value, [name]: e.currentTarget.value });
  return (
    <Dialog title="Settings" onClose={onClose}>
      <p class="hint">For the next answers of this conversation.</p>
      <div class="field">
        <label for="instructions">Instructions</label>
        <textarea
          id="instructions"
          rows={4}
          placeholder="Answer in one sentence."
          value={settings.value.instructions}
          onInput={set("instructions")}
        />
      </div>
      <div class="fields">
        {can.value.includes("reasoning") && (
          <div class="field half">
            <label for="effort">Reasoning effort</label>
            <select id="effort" value={settings.value.effort} onChange={set("effort")}>
              <option value="">default</option>
              {["low", "medium", "high"].map((e) => (
                <option key={e}>{e}</option>
              ))}
            </select>
          </div>
        )}
        <div class="field half">
          <label for="temperature">Temperature, 0 to 2</label>
          <input
            id="temperature"
            type="number"
            min={0}
            max={2}
            step={0.1}
            value={settings.value.temperature}
            onInput={set("temperature")}
          />
        </div>
        <div class="field half">
          <label for="longest">Longest answer, tokens</label>
          <input id="longest" type="number" min={1} value={settings.value.longest} onInput={set("longest")} />
        </div>
      </div>
    </Dialog>
  );
}

/** ProgramDialog shows the request of the conversation in the form of each API. */
export function ProgramDialog({ onClose }: { onClose: () => void }) {
  const api = useSignal<Api>("Chat");
  return (
    <CodeDialog sample={sample(api.value)} onClose={onClose}>
      <div class="segments apis" role="group" aria-label="API">
        {apis.map((a) => (
          <button type="button" key={a} aria-pressed={a === api.value} onClick={() => (api.value = a)}>
            {a}
          </button>
        ))}
      </div>
    </CodeDialog>
  );
}
