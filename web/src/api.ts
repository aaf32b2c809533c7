// Requests to this server: the API key, and errors with messages for people.
import { signal } from "@preact/signals";
import { storedKey, storeKey } from "./key";

/** ApiError is an error response of the server; status 0 means that the server did not answer. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly param = "",
  ) {
    super(message);
  }
}

/** key is the API key in use, "" for none. */
export const key = signal(storedKey());

/** keyWanted is true after the server has rejected a request without a valid key. */
export const keyWanted = signal(false);

/** offline is true while requests do not reach the server. */
export const offline = signal(false);

/** signIn stores a key if the server accepts it at the path probe. Errors: ApiError. */
export async function signIn(value: string, probe: string): Promise<void> {
  const before = key.value;
  key.value = value;
  try {
    await request(probe);
  } catch (e) {
    key.value = before;
    throw e;
  }
  storeKey(value);
  keyWanted.value = false;
}

/** signOut forgets the key. */
export function signOut(): void {
  key.value = "";
  storeKey("");
  location.reload();
}

/** request fetches a path of this server. Errors: ApiError, or AbortError. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (key.value) headers.set("X-API-Key", key.value);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers });
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    offline.value = true;
    throw new ApiError("The server does not answer. Your text is kept in this browser.", 0, "offline");
  }
  offline.value = false;
  if (response.ok || response.status === 304) return response;
  const error = await errorIn(response);
  if (error.status === 401) keyWanted.value = true;
  throw error;
}

/** errorIn returns the error in a response. */
async function errorIn(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { error: { message: string; code?: string; param?: string } };
    return new ApiError(error.message, response.status, error.code ?? "", error.param ?? "");
  } catch {
    return new ApiError(`The server answered ${response.status}.`, response.status, "");
  }
}

/** json fetches a path and parses the JSON response. Errors as for request. */
export async function json<T>(path: string, init?: RequestInit): Promise<T> {
  return (await request(path, init)).json() as Promise<T>;
}

/** post sends a value as JSON. */
export function post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return request(path, {
    ...init,
    method: "POST",
    headers: { "Content-Type": "application/json", ...(init.headers as Record<string, string>) },
    body: JSON.stringify(body),
  });
}

/** aborted reports whether the error is that the page cancelled its own request. */
export function aborted(e: unknown): boolean {
  return e instanceof DOMException && e.name === "AbortError";
}

/** text returns an error's message for people. */
export function text(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}
