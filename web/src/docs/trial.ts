// Trying an operation: a form for its parameters and body, and the answer.
import { storedKey, storeKey } from "../key";
import { element } from "./element";

/** longestText bounds the characters of an answer that are shown. */
const longestText = 200_000;

/** offerTrial adds a button that opens the form of an operation. */
export function offerTrial(operation: HTMLElement): void {
  const place = operation.querySelector<HTMLElement>(".try")!;
  if (place.dataset["socket"] !== undefined) return;
  const open = element("button", { type: "button", class: "wide-button" }, "Try it");
  open.addEventListener("click", () => {
    open.remove();
    const form = trialForm(operation, place);
    place.append(form);
    form.querySelector<HTMLElement>("input, textarea")?.focus();
  });
  place.append(open);
  place.hidden = false;
}

/** trialForm returns the form of an operation, filled with its examples. */
function trialForm(operation: HTMLElement, place: HTMLElement): HTMLFormElement {
  const key = element("input", {
    type: "password",
    autocomplete: "off",
    placeholder: "not needed if the server has no keys",
  });
  key.value = storedKey();
  const parameters = [...operation.querySelectorAll<HTMLElement>("dt[data-in]")].map((dt) => {
    const { in: at, name, example } = dt.dataset as { in: string; name: string; example: string };
    const input = element("input", { type: "text", ...("required" in dt.dataset ? { required: "" } : {}) });
    input.value = example;
    return { at, name, input };
  });
  const body =
    place.dataset["body"] === undefined ? undefined : element("textarea", { rows: "6", spellcheck: "false" });
  if (body) body.value = place.dataset["body"]!;
  const parts = [...place.querySelectorAll<HTMLElement>("[data-part]")].map((p) => {
    const input = element("input", { type: p.dataset["file"] === undefined ? "text" : "file" });
    if (p.dataset["file"] === undefined) input.value = p.dataset["value"] ?? "";
    return { name: p.dataset["part"]!, input };
  });

  const send = element("button", { class: "primary" }, "Send");
  const answer = element("div", { class: "answer", "aria-live": "polite" });
  const form = element("form", { class: "trial" }, labelled("API key", key));
  for (const p of parameters) form.append(labelled(`${p.name} (${p.at})`, p.input));
  if (body) form.append(labelled("Body", body));
  for (const p of parts) form.append(labelled(p.name, p.input));
  form.append(send, answer);

  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    storeKey(key.value);
    send.disabled = true;
    answer.replaceChildren("Waiting for the answer …");
    try {
      await show(answer, await fetch(...request(operation, place, key.value, parameters, body, parts)));
    } catch (problem) {
      answer.replaceChildren(
        element("p", { class: "bad" }, `The request failed: ${problem instanceof Error ? problem.message : problem}`),
      );
    }
    send.disabled = false;
  });
  return form;
}

function labelled(text: string, input: HTMLElement): HTMLLabelElement {
  return element("label", {}, element("span", {}, text), input);
}

/** request returns the address and the request that a filled form describes. */
function request(
  operation: HTMLElement,
  place: HTMLElement,
  key: string,
  parameters: { at: string; name: string; input: HTMLInputElement }[],
  body: HTMLTextAreaElement | undefined,
  parts: { name: string; input: HTMLInputElement }[],
): [string, RequestInit] {
  let path = operation.dataset["path"]!;
  const query = new URLSearchParams();
  const headers = new Headers();
  if (key && path.startsWith("/v1/")) headers.set("Authorization", "Bearer " + key);
  else if (key) headers.set("X-API-Key", key);
  for (const { at, name, input } of parameters) {
    if (at === "path") path = path.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (at === "query" && input.value) query.set(name, input.value);
    else if (at === "header" && input.value) headers.set(name, input.value);
  }
  const init: RequestInit = { method: operation.dataset["method"]!, headers };
  if (body) {
    headers.set("Content-Type", place.dataset["type"]!);
    init.body = body.value;
  } else if (parts.length > 0) {
    const form = new FormData();
    for (const { name, input } of parts) {
      for (const file of input.files ?? []) form.append(name, file);
      if (input.type === "text" && input.value) form.append(name, input.value);
    }
    init.body = form;
  }
  return [query.size > 0 ? `${path}?${query}` : path, init];
}

/** show writes an answer: text as it arrives, other content as a file to save. */
async function show(place: HTMLElement, answer: Response): Promise<void> {
  const type = answer.headers.get("content-type") ?? "";
  const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  place.replaceChildren(
    element("p", { class: answer.ok ? "good" : "bad" }, `${answer.status} ${answer.statusText}`),
    element("details", {}, element("summary", {}, "Headers"), element("pre", {}, lines)),
  );
  if (!/^text\/|json|yaml|subrip/.test(type)) {
    const blob = await answer.blob();
    if (blob.size === 0) return;
    const name = /filename="?([^";]+)/.exec(answer.headers.get("content-disposition") ?? "")?.[1] ?? "result";
    place.append(
      element(
        "a",
        { class: "button", href: URL.createObjectURL(blob), download: name },
        `Save ${name} (${Math.ceil(blob.size / 1000)} kB)`,
      ),
    );
    return;
  }
  const text = element("pre", { tabindex: "0" });
  place.append(text);
  let whole = "";
  for (const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    whole += value;
    text.textContent = whole.slice(0, longestText);
  }
  if (type.includes("json")) text.textContent = JSON.stringify(JSON.parse(whole), null, 2).slice(0, longestText);
}
