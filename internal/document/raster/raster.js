async ({ page, scale }) => {
  globalThis.document_ ??= globalThis.pdfjs.getDocument({ data: Uint8Array.from(atob(globalThis.source), c => c.charCodeAt(0)), useWorkerFetch: false, isEvalSupported: false, disableFontFace: true }).promise;
  const pdf = await document_;
  const sheet = await pdf.getPage(page), viewport = sheet.getViewport({ scale });
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(viewport.width);
  canvas.height = Math.round(viewport.height);
  await sheet.render({ canvas, viewport, intent: "print" }).promise;
  const url = canvas.toDataURL("image/png");
  sheet.cleanup();
  return { png: url.slice(url.indexOf(",") + 1) };
}
