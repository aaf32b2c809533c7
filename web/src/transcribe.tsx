// The Transcribe tab: a recording as text.
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { key, request, text as errorText } from "./api";
import { add, fetchArtifact, find } from "./jobs";
import { JobView } from "./jobview";
import { able, loadModels, models } from "./models";
import { CopyButton, Icon, Notice, bytes } from "./parts";

const recording = signal<File | null>(null);
const shown = signal<string | null>(null);

/** Transcript shows the result of a transcription when its job has completed. */
function Transcript({ id }: { id: string }) {
  const said = useSignal<string | null>(null);
  const problem = useSignal("");
  const status = find(id)?.status;
  useEffect(() => {
    said.value = null;
    if (status !== "completed") return;
    fetchArtifact(id)
      .then((b) => b.text())
      .then(
        (t) => (said.value = t),
        (e: unknown) => (problem.value = errorText(e)),
      );
  }, [id, status]);
  if (problem.value)
    return (
      <p class="empty" role="alert">
        {problem.value}
      </p>
    );
  if (said.value === null) return <p class="empty">{status === "completed" ? "…" : "The transcript appears here."}</p>;
  return (
    <div class="transcript">
      <CopyButton text={() => said.value ?? ""} />
      <pre tabIndex={0} aria-label="Transcript">
        {said.value}
      </pre>
    </div>
  );
}

/** Transcribe is the tab that records or opens audio and submits it. */
export function Transcribe() {
  const model = useSignal("");
  const language = useSignal("");
  const format = useSignal("text");
  const english = useSignal(false);
  const problem = useSignal("");
  const busy = useSignal(false);
  const recorder = useSignal<MediaRecorder | null>(null);
  const sound = useSignal("");
  const picker = useRef<HTMLInputElement>(null);

  useEffect(
    () =>
      key.subscribe(() => {
        loadModels().then(
          () => (model.value ||= able("transcription").find((m) => m.capabilities)?.id ?? ""),
          (e: unknown) => (problem.value = errorText(e)),
        );
      }),
    [],
  );
  useEffect(
    () =>
      recording.subscribe((f) => {
        URL.revokeObjectURL(sound.value);
        sound.value = f ? URL.createObjectURL(f) : "";
      }),
    [],
  );

  const record = async () => {
    problem.value = "";
    if (recorder.value) {
      recorder.value.stop();
      return;
    }
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const parts: Blob[] = [];
      const r = new MediaRecorder(stream);
      r.ondataavailable = (e) => parts.push(e.data);
      r.onstop = () => {
        for (const t of stream.getTracks()) t.stop();
        recorder.value = null;
        const type = r.mimeType.split(";")[0]!;
        recording.value = new File(
          parts,
          "recording." + (type.includes("mp4") ? "m4a" : type.includes("ogg") ? "ogg" : "webm"),
          { type },
        );
      };
      r.start();
      recorder.value = r;
    } catch {
      problem.value = "The microphone is not available. Connect one and allow this page to use it.";
    }
  };
  const submit = async (e: Event) => {
    e.preventDefault();
    const file = recording.value;
    if (!file) return;
    problem.value = "";
    busy.value = true;
    const fields: Record<string, string> = { model: model.value, response_format: format.value };
    if (language.value.trim() && !english.value) fields["language"] = language.value.trim();
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", file, file.name);
    const path = `/v1/audio/${english.value ? "translations" : "transcriptions"}`;
    try {
      const accepted = await (
        await request(path, { method: "POST", headers: { Prefer: "respond-async" }, body: form })
      ).json();
      shown.value = add(accepted as Parameters<typeof add>[0], {
        kind: "transcription",
        title: file.name,
        sample: {
          path,
          fields,
          files: [{ field: "file", name: file.name }],
          output: "transcript." + (format.value === "text" ? "txt" : format.value),
        },
      });
    } catch (err) {
      problem.value = errorText(err);
    } finally {
      busy.value = false;
    }
  };
  const list = able("transcription").filter((m) => m.capabilities);
  return (
    <div
      class="export"
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => (e.preventDefault(), (recording.value = e.dataTransfer?.files[0] ?? recording.value))}
    >
      <form class="side" onSubmit={submit}>
        <h2>Transcribe audio</h2>
        {models.value && !list.length && (
          <p class="hint">
            No transcription model. Add one with the capability “transcription” to models.yaml (see docs/inference.md).
          </p>
        )}
        <div class="field">
          <label for="voice-model">Model</label>
          <select id="voice-model" value={model.value} onChange={(e) => (model.value = e.currentTarget.value)}>
            {list.map((m) => (
              <option key={m.id}>{m.id}</option>
            ))}
          </select>
        </div>
        <div class="pair">
          <button type="button" class="wide-button" onClick={() => picker.current!.click()}>
            <Icon name="open" /> Choose a file
          </button>
          <button type="button" class="wide-button" aria-pressed={!!recorder.value} onClick={record}>
            <Icon name={recorder.value ? "stop" : "mic"} /> {recorder.value ? "Stop" : "Record"}
          </button>
        </div>
        <input
          ref={picker}
          id="recording"
          type="file"
          hidden
          accept="audio/*,video/mp4,video/webm"
          aria-label="Recording"
          onChange={(e) => (recording.value = e.currentTarget.files?.[0] ?? null)}
        />
        {recording.value && (
          <div class="field">
            <span class="label">
              {recording.value.name}, {bytes(recording.value.size)}
            </span>
            <audio controls src={sound.value} aria-label="The recording" />
          </div>
        )}
        <div class="pair">
          <div class="field">
            <label for="voice-format">Format</label>
            <select id="voice-format" value={format.value} onChange={(e) => (format.value = e.currentTarget.value)}>
              <option value="text">Text</option>
              <option value="srt">Subtitles (SRT)</option>
              <option value="vtt">Subtitles (VTT)</option>
              <option value="verbose_json">JSON with times</option>
            </select>
          </div>
          <div class="field">
            <label for="voice-language">Language</label>
            <input
              id="voice-language"
              placeholder="auto-detect"
              value={language.value}
              disabled={english.value}
              onInput={(e) => (language.value = e.currentTarget.value)}
            />
          </div>
        </div>
        <label class="switch">
          <input
            type="checkbox"
            role="switch"
            checked={english.value}
            onChange={(e) => (english.value = e.currentTarget.checked)}
          />
          <span>Translate to English</span>
        </label>
        {problem.value && (
          <Notice kind="error" onClose={() => (problem.value = "")}>
            {problem.value}
          </Notice>
        )}
        <button class="primary" type="submit" disabled={busy.value || !recording.value || !model.value}>
          Transcribe
        </button>
        {shown.value && <JobView id={shown.value} />}
      </form>
      <section class="result" aria-label="Transcript">
        {shown.value ? (
          <Transcript id={shown.value} />
        ) : (
          <p class="empty">Choose a recording, drop it here, or record one.</p>
        )}
      </section>
    </div>
  );
}
