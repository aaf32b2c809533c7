// The models that this server offers.
import { signal } from "@preact/signals";
import { json } from "./api";

export interface Model {
  id: string;
  active: boolean;
  capabilities?: string[];
  /** price is in the operator's currency per million tokens. */
  price?: { input_per_m: number; output_per_m: number };
}

export const models = signal<Model[] | null>(null);

/** loadModels fetches the list. Errors: ApiError. */
export async function loadModels(): Promise<void> {
  models.value = (await json<{ data: Model[] }>("/v1/models")).data;
}

/** toolProblems holds why a built-in tool is not available, "" if it is; null until the
 * server has answered. */
export const toolProblems = signal<((tool: string) => string) | null>(null);

/** loadTools asks which tools the running workers have. Errors: TypeError without a server. */
export async function loadTools(): Promise<void> {
  // A server that is not ready answers 503, with the same body.
  const { checks } = (await (await fetch("/readyz")).json()) as {
    checks: { workers?: { tools?: Record<string, string> } };
  };
  const tools = checks.workers?.tools;
  toolProblems.value = (tool) => {
    if (!tools) return "no worker with tools is running";
    // Leave out the end of a reason: it names settings, which only the operator can change.
    return (tools[tool] ?? "no worker has it").split(";")[0]!.replace(/ \([A-Z_]+\)/g, "");
  };
}

/** able returns the models that have a capability. */
export function able(capability: string): Model[] {
  return (models.value ?? []).filter((m) => !m.capabilities || m.capabilities.includes(capability));
}
