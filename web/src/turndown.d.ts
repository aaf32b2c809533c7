declare module "turndown" {
  interface Rule {
    filter: string | string[];
    replacement(content: string, node: Node): string;
  }
  export default class TurndownService {
    constructor(options?: Record<string, unknown>);
    addRule(name: string, rule: Rule): this;
    turndown(input: string | Node): string;
  }
}
