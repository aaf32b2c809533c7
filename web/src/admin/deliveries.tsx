// The log of webhook deliveries, of all jobs or of one, with a button to send a webhook again.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { aborted, json, text as errorText } from "../api";
import { Icon, Notice } from "../parts";
import { act, show } from "./detail";
import { moment } from "./format";

interface Try {
  job_id: string;
  at: string;
  host: string;
  result: "delivered" | "failed" | "refused" | "gone";
  status: number;
  error: string;
  ms: number;
}

/** refreshTime is the time between two updates of the log, in milliseconds. */
const refreshTime = 3000;

/** Deliveries lists the attempts for one job, or for all jobs if job is missing. With ended, a button sends the webhook again. */
export function Deliveries({ job, ended }: { job?: string; ended?: boolean }) {
  const tries = useSignal<Try[] | null>(null);
  const problem = useSignal("");
  const failedOnly = useSignal(false);
  const load = async (signal?: AbortSignal) => {
    try {
      const query = job ? `?job=${job}` : "";
      tries.value = (await json<{ data: Try[] }>(`/admin/api/webhooks${query}`, signal ? { signal } : {})).data;
      problem.value = "";
    } catch (e) {
      if (!aborted(e)) problem.value = errorText(e);
    }
  };
  useEffect(() => {
    const gone = new AbortController();
    void load(gone.signal);
    const timer = setInterval(() => !document.hidden && void load(gone.signal), refreshTime);
    return () => {
      gone.abort();
      clearInterval(timer);
    };
  }, [job]);
  const sendAgain = async (id: string) => {
    try {
      const [outcome] = await act("redeliver", [id]);
      problem.value = outcome?.error?.message ?? "";
    } catch (e) {
      problem.value = errorText(e);
    }
  };
  const list = (tries.value ?? []).filter((t) => !failedOnly.value || t.result !== "delivered");
  return (
    <div class={job ? "deliveries" : "desk deliveries"}>
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      {job ? (
        ended && (
          <button type="button" class="quiet strong" onClick={() => void sendAgain(job)}>
            <Icon name="retry" /> Send again
          </button>
        )
      ) : (
        <label class="check">
          <input
            type="checkbox"
            checked={failedOnly.value}
            onChange={(e) => (failedOnly.value = e.currentTarget.checked)}
          />{" "}
          Only tries that failed
        </label>
      )}
      {tries.value && list.length === 0 && (
        <p class="empty">
          {job
            ? "Not sent yet. The webhook is sent when the job ends."
            : "No webhook was sent in the last 30 days. Jobs with a webhook_url send one when they end."}
        </p>
      )}
      {list.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Time</th>
                {!job && <th>Job</th>}
                <th>Receiver</th>
                <th>Result</th>
                <th>Answer</th>
                {!job && <th />}
              </tr>
            </thead>
            <tbody>
              {list.map((t, i) => (
                <tr key={t.at + i} data-result={t.result}>
                  <td>{moment(t.at)}</td>
                  {!job && (
                    <td>
                      <button type="button" class="link id" onClick={() => show(t.job_id)}>
                        {t.job_id}
                      </button>
                    </td>
                  )}
                  <td>{t.host || "–"}</td>
                  <td>
                    <span class={`state ${t.result === "delivered" ? "completed" : "failed"}`}>{t.result}</span>
                  </td>
                  <td>{t.status ? `${t.status} after ${t.ms} ms` : t.error}</td>
                  {!job && (
                    <td>
                      <button type="button" class="quiet" onClick={() => void sendAgain(t.job_id)}>
                        Send again
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
