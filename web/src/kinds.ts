/** Kind is what a job does. */
export type Kind = "conversion" | "export" | "transcription" | "pdf";

/** kinds are the names of the kinds for people. */
export const kinds: Record<Kind, string> = {
  conversion: "Conversion",
  export: "Page export",
  transcription: "Transcription",
  pdf: "PDF operation",
};
