// The guide at /docs. The server renders its pages; this script adds the choice of a
// language, copying, the colour scheme, and trying a request.
import { applyScheme, schemes, storedScheme } from "../scheme";
import { element } from "./element";
import { offerTrial } from "./trial";

const languageSlot = "presswork.language";

let language = stored(languageSlot);
let scheme = storedScheme();

for (const samples of document.querySelectorAll<HTMLElement>(".samples")) addTabs(samples);
for (const pre of document.querySelectorAll("pre")) addCopying(pre);
for (const operation of document.querySelectorAll<HTMLElement>(".operation")) offerTrial(operation);
showLanguage();
addSchemes();
foldPages();

function stored(slot: string): string {
  try {
    return localStorage.getItem(slot) ?? "";
  } catch {
    return "";
  }
}

/** addTabs puts a row of buttons above samples, one for each language. */
function addTabs(samples: HTMLElement): void {
  const row = element("div", { class: "segments", role: "group", "aria-label": "Language" });
  for (const sample of samples.querySelectorAll<HTMLElement>(".sample")) {
    const name = sample.dataset["language"]!;
    const button = element("button", { type: "button", "data-language": name }, name);
    button.addEventListener("click", () => {
      // The page may move when samples of another length appear above.
      const before = button.getBoundingClientRect().top;
      language = name;
      showLanguage();
      scrollBy(0, button.getBoundingClientRect().top - before);
      try {
        localStorage.setItem(languageSlot, name);
      } catch {
        // Without storage the choice is lost when the page closes.
      }
    });
    row.append(button);
  }
  samples.prepend(row);
  samples.classList.add("tabbed");
}

/** showLanguage shows the samples of the chosen language, or the first where it is missing. */
function showLanguage(): void {
  for (const samples of document.querySelectorAll(".samples")) {
    const all = [...samples.querySelectorAll<HTMLElement>(".sample")];
    const shown = all.find((s) => s.dataset["language"] === language) ?? all[0];
    for (const sample of all) sample.hidden = sample !== shown;
    for (const button of samples.querySelectorAll<HTMLElement>(".segments button"))
      button.setAttribute("aria-pressed", String(button.dataset["language"] === shown?.dataset["language"]));
  }
}

/** addCopying puts a button above a block of code that copies its text. */
function addCopying(pre: HTMLElement): void {
  const frame = element("div", { class: "code" });
  pre.replaceWith(frame);
  pre.tabIndex = 0; // long lines scroll, so the keyboard must reach them
  const button = element("button", { type: "button", class: "quiet copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.innerText);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying is not allowed here";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  frame.append(pre, button);
}

/** addSchemes makes the button that changes the colours. */
function addSchemes(): void {
  const button = document.querySelector<HTMLElement>("#scheme")!;
  const show = () => {
    applyScheme(scheme);
    button.textContent = `Colours: ${scheme}`;
  };
  button.addEventListener("click", () => {
    scheme = schemes[(schemes.indexOf(scheme) + 1) % schemes.length]!;
    show();
  });
  button.hidden = false;
  show();
}

/** foldPages closes the list of pages where it would cover the page. */
function foldPages(): void {
  const narrow = matchMedia("(max-width: 800px)");
  const list = document.querySelector<HTMLDetailsElement>(".pages details")!;
  const fold = () => (list.open = !narrow.matches);
  narrow.addEventListener("change", fold);
  fold();
  if (!narrow.matches) list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}
