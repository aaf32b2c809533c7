// A model's Markdown as elements. Lezer parses it and this file creates every element,
// so a model's HTML never reaches the page.
import type { SyntaxNode } from "@lezer/common";
import { GFM, parser } from "@lezer/markdown";
import type { ComponentChildren, VNode } from "preact";
import { memo } from "preact/compat";
import { CopyButton, linked } from "./parts";

const reader = parser.configure([GFM]);

/** Markdown shows a text. It does not draw unchanged blocks again. */
export function Markdown({ text }: { text: string }) {
  const blocks: string[] = [];
  let from = 0;
  for (let n = reader.parse(text).topNode.firstChild; n; n = n.nextSibling) {
    const last = n.nextSibling === null;
    blocks.push(text.slice(from, last ? text.length : n.to));
    from = n.to;
  }
  return (
    <div class="prose">
      {blocks.map((b, i) => (
        <Block key={i} text={b} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ text }: { text: string }) {
  return <>{children(reader.parse(text).topNode, text)}</>;
});

const hidden = /Mark$|^(CodeInfo|URL|LinkTitle|LinkLabel)$/;

/** children returns the elements of a node, with the text between its marks. */
function children(node: SyntaxNode, text: string): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let at = node.from;
  for (let n = node.firstChild; n; n = n.nextSibling) {
    if (n.from > at) out.push(linked(text.slice(at, n.from)));
    if (n.name === "URL" && !["Link", "Image", "LinkReference"].includes(node.name))
      out.push(link(text.slice(n.from, n.to), text.slice(n.from, n.to)));
    else if (!hidden.test(n.name)) out.push(element(n, text));
    at = n.to;
  }
  if (at < node.to) out.push(linked(text.slice(at, node.to)));
  return out;
}

function inner(node: SyntaxNode, text: string): ComponentChildren[] {
  const list = children(node, text);
  // Skip the white space between a mark and its text.
  if (typeof list[0] === "string") list[0] = list[0].replace(/^\s+/, "");
  return list;
}

/** link returns a link to an address of the web, of mail or of the manual, else its label alone. A label such as ^2
 * stands for a numbered source. */
function link(address: string, label: ComponentChildren): ComponentChildren {
  const source = /^\^(\d+)$/.exec(String(label))?.[1];
  const page = /^docs\/[\w-]+\.md(#[\w-]+)?$/.test(address);
  if (page) address = "/" + address.replace(".md", "");
  const href = /^www\./i.test(address) ? "https://" + address : address;
  if (!page && !/^(https?:|mailto:)/i.test(href)) return label;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      {...(source ? { class: "source", "aria-label": "Source " + source } : {})}
    >
      {source ?? label}
    </a>
  );
}

function element(n: SyntaxNode, text: string): VNode | ComponentChildren {
  const raw = text.slice(n.from, n.to);
  const heading = /^(?:ATX|Setext)Heading(\d)$/.exec(n.name);
  if (heading) {
    // Model headings start below the page's own.
    const Level = `h${Math.min(6, Number(heading[1]) + 2)}` as "h3";
    return <Level>{inner(n, text)}</Level>;
  }
  switch (n.name) {
    case "Paragraph":
      return <p>{inner(n, text)}</p>;
    case "BulletList":
      return <ul>{items(n, text)}</ul>;
    case "OrderedList":
      return <ol start={parseInt(raw, 10) || 1}>{items(n, text)}</ol>;
    case "Blockquote":
      return <blockquote>{children(n, text)}</blockquote>;
    case "FencedCode":
    case "CodeBlock": {
      const info = n.getChild("CodeInfo");
      const code = n
        .getChildren("CodeText")
        .map((c) => text.slice(c.from, c.to))
        .join("");
      return (
        <figure class="code">
          <figcaption>
            {info ? text.slice(info.from, info.to) : ""}
            <CopyButton text={() => code} />
          </figcaption>
          <pre tabIndex={0}>{code}</pre>
        </figure>
      );
    }
    case "InlineCode":
      return <code>{linked(raw.replace(/^(`+)\s?([\s\S]*?)\s?\1$/, "$2"))}</code>;
    case "StrongEmphasis":
      return <strong>{children(n, text)}</strong>;
    case "Emphasis":
      return <em>{children(n, text)}</em>;
    case "Strikethrough":
      return <del>{children(n, text)}</del>;
    case "Link": {
      const url = n.getChild("URL");
      return url ? link(text.slice(url.from, url.to), children(n, text)) : raw;
    }
    case "Autolink":
      return link(raw.slice(1, -1), raw.slice(1, -1));
    case "Image":
      // Do not fetch images that a model names: the address could leak the conversation.
      return <span class="image">{raw}</span>;
    case "HardBreak":
      return <br />;
    case "HorizontalRule":
      return <hr />;
    case "Escape":
      return raw.slice(1);
    case "Table":
      return (
        <div class="table" tabIndex={0}>
          <table>
            <thead>{row(n.getChild("TableHeader")!, text, true)}</thead>
            <tbody>{n.getChildren("TableRow").map((r) => row(r, text, false))}</tbody>
          </table>
        </div>
      );
    case "TaskMarker":
      return <input type="checkbox" disabled checked={/x/i.test(raw)} aria-label="done" />;
    case "Task":
      return <span>{inner(n, text)}</span>;
    default:
      // Show HTML and unknown syntax as text.
      return n.firstChild && !/^HTML|^Comment|^Processing/.test(n.name) ? children(n, text) : raw;
  }
}

function items(list: SyntaxNode, text: string): VNode[] {
  return list.getChildren("ListItem").map((item) => <li>{inner(item, text)}</li>);
}

function row(node: SyntaxNode, text: string, head: boolean): VNode {
  return (
    <tr>
      {node
        .getChildren("TableCell")
        .map((c) => (head ? <th scope="col">{children(c, text)}</th> : <td>{children(c, text)}</td>))}
    </tr>
  );
}
