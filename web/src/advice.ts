// Advice for each warning.

const advice: Record<string, string> = {
  alt_missing: "Say in the square brackets what the picture shows: ![A map of the site](map.png).",
  bibliography_failed: "Correct the file, or drop it on this page again.",
  citation_missing: "Correct the key, or add the work to the bibliography.",
  diagram_failed: "Correct the diagram. Until then its source is printed.",
  front_matter_ignored: "Correct the value at the top of the text, or under Options.",
  glyph_missing: "Use another character, or ask the operator to install a font that has it.",
  heading_skipped: "Use the next level, or add the heading between them.",
  image_failed: "Drop the picture on this page, or correct its name or address.",
  include_failed: "Includes work in folders and archives: drop the whole folder on this page.",
  line_overflow: "Break the line, or choose a smaller size or landscape under Options.",
  link_broken: "Correct the name after #, or give the heading that name: ## Title {#name}.",
  slide_overflow: "Divide the slide with a line of three hyphens: ---.",
  syntax_dropped: "Remove it, or write it as Markdown.",
};

/** adviceFor returns what to do about a warning, "" if the message says it. */
export function adviceFor(code: string): string {
  return advice[code] ?? "";
}
