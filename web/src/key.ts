const slot = "presswork.key";

/** storedKey is the API key of this browser tab's session, "" for none. */
export function storedKey(): string {
  try {
    return sessionStorage.getItem(slot) ?? "";
  } catch {
    return ""; // storage is switched off
  }
}

/** storeKey keeps a key until the tab is closed; "" forgets it. */
export function storeKey(key: string): void {
  try {
    if (key) sessionStorage.setItem(slot, key);
    else sessionStorage.removeItem(slot);
  } catch {
    // Without storage the key is lost when the page closes.
  }
}
