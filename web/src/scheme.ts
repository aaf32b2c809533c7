// The colour scheme that the reader chose, kept for all pages of this server.
export const schemes = ["auto", "light", "dark"] as const;
export type Scheme = (typeof schemes)[number];

const slot = "presswork.scheme";

/** storedScheme is the scheme that was chosen last, "auto" for none. */
export function storedScheme(): Scheme {
  try {
    return schemes.find((s) => s === localStorage.getItem(slot)) ?? "auto";
  } catch {
    return "auto"; // storage is switched off
  }
}

/** applyScheme shows the page in a scheme and stores it. */
export function applyScheme(scheme: Scheme): void {
  document.documentElement.dataset["scheme"] = scheme;
  try {
    localStorage.setItem(slot, scheme);
  } catch {
    // Without storage the choice is lost when the page closes.
  }
}
