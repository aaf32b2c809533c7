// The page at /docs: Swagger UI over this server's own description.
import { storedKey } from "./key";

interface SwaggerUI {
  preauthorizeApiKey(scheme: string, key: string): void;
}

declare const SwaggerUIBundle: (options: Record<string, unknown>) => SwaggerUI;

const ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  // The validator would send this page's address to another service.
  validatorUrl: null,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  onComplete: () => {
    const key = storedKey();
    if (key) ui.preauthorizeApiKey("header", key);
  },
});
