// Checks the generated types: a conversion, an export and a completion.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { env: Record<string, string | undefined> };

const client = createClient<paths>({ baseUrl: process.env.COMPAT_BASE, headers: { "X-API-Key": process.env.COMPAT_KEY } });

function check(ok: boolean, got: unknown): asserts ok {
  if (!ok) throw new Error(JSON.stringify(got));
}

const submitted = await client.POST("/api/conversion", { body: { content: "# Generated", theme: "nord", options: { page_size: "A5", toc: 2 } } });
check(typeof submitted.data === "object", submitted.error);
const id: string = submitted.data.job_id;

let job: components["schemas"]["Job"];
const deadline = Date.now() + 90_000;
do {
  const polled = await client.GET("/api/conversion/{id}", { params: { path: { id }, query: { wait: "30s" } } });
  check(polled.data !== undefined && Date.now() < deadline, polled.error);
  job = polled.data;
} while (job.status === "queued" || job.status === "processing");
check(job.status === "completed" && job.artifact !== null, job);

const pdf = await client.GET("/api/artifacts/{id}/download", { params: { path: { id } }, parseAs: "blob" });
check(pdf.data !== undefined && pdf.data.size === job.artifact.size, pdf.error);

const rejected = await client.POST("/export-pdf", { body: { url: "http://127.0.0.1/", options: { pdf_a: "2b" } } });
check(rejected.error?.error.code === "address_not_allowed", rejected);

const completed = await client.POST("/v1/chat/completions", { body: { model: "hello", messages: [{ role: "user", content: "Say hi" }] } });
check(completed.data !== undefined && "choices" in completed.data && completed.data.choices.length === 1, completed.error);
