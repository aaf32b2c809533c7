// Pasted HTML as Markdown.
import TurndownService from "turndown";
import { parseHTML } from "./preview";

/** toMarkdown turns HTML into Markdown. */
export function toMarkdown(html: string): string {
  const page = parseHTML(html);
  for (const e of page.querySelectorAll("script,style,noscript,template,meta,link,title")) e.remove();
  const service = new TurndownService({
    headingStyle: "atx",
    hr: "---",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
    emDelimiter: "*",
  });
  service.addRule("strikethrough", { filter: ["del", "s"], replacement: (text) => (text.trim() ? `~~${text}~~` : "") });
  service.addRule("table", { filter: "table", replacement: (_, node) => table(service, node as HTMLTableElement) });
  return service.turndown(page.body).trim() + "\n";
}

function table(service: TurndownService, node: HTMLTableElement): string {
  const rows = [...node.rows].map((r) =>
    [...r.cells].map((c) =>
      service
        .turndown(c as HTMLElement)
        .replaceAll(/\s*\n\s*/g, " ")
        .replaceAll("|", "\\|"),
    ),
  );
  const width = Math.max(0, ...rows.map((r) => r.length));
  if (width === 0) return "";
  const line = (cells: string[]) => `| ${Array.from({ length: width }, (_, i) => cells[i] ?? "").join(" | ")} |`;
  const [head, ...rest] = rows;
  return `\n\n${[line(head!), line(Array<string>(width).fill("---")), ...rest.map(line)].join("\n")}\n\n`;
}
