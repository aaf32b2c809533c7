// The models that this server offers.
import { signal } from "@preact/signals";
import { json } from "./api";

export interface Model {
  id: string;
  active: boolean;
  capabilities?: string[];
}

export const models = signal<Model[] | null>(null);

/** loadModels fetches the list. Errors: ApiError. */
export async function loadModels(): Promise<void> {
  models.value = (await json<{ data: Model[] }>("/v1/models")).data;
}

/** able returns the models that have a capability. */
export function able(capability: string): Model[] {
  return (models.value ?? []).filter((m) => !m.capabilities || m.capabilities.includes(capability));
}
