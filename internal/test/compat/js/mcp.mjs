// Checks the official MCP SDK for JavaScript on `presswork mcp` and on /mcp.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const load = (path) => import(createRequire(process.env.COMPAT_MODULES + '/').resolve('@modelcontextprotocol/sdk/client/' + path));
const { Client } = await load('index.js');
const { StdioClientTransport } = await load('stdio.js');
const { StreamableHTTPClientTransport } = await load('streamableHttp.js');
const [command, cwd] = process.argv.slice(2);
const markdown = '# One\n\n### Three\n';

for (const transport of [
  new StdioClientTransport({ command, args: ['mcp'], cwd, stderr: 'ignore' }),
  new StreamableHTTPClientTransport(new URL(process.env.COMPAT_BASE + '/mcp'), {
    requestInit: { headers: { Authorization: 'Bearer ' + process.env.COMPAT_KEY } },
  }),
]) {
  const client = new Client({ name: 'compat', version: '1' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.equal(tools.length, 9);

  const seen = [];
  const made = await client.callTool(
    { name: 'convert_markdown', arguments: { markdown, theme: 'auto', output: 'node.pdf' } }, undefined,
    { onprogress: (p) => seen.push(p.progress) },
  );
  assert.match(made.content[0].text, /1 page/);
  assert.equal(made.content[1].type, 'resource_link');
  assert.ok(seen.length > 0);

  const page = await client.callTool({ name: 'preview_page', arguments: { markdown } });
  assert.equal(page.content[0].mimeType, 'image/png');

  const wrong = await client.callTool({ name: 'convert_markdown', arguments: { markdown, theme: 'nrod', output: 'x.pdf' } });
  assert.ok(wrong.isError && wrong.content[0].text.includes('did you mean "nord"'));

  assert.match((await client.readResource({ uri: 'presswork://themes' })).contents[0].text, /nord \(light\)/);
  assert.equal((await client.listPrompts()).prompts.length, 3);
  await client.close();
}
assert.equal(readFileSync(cwd + '/node.pdf').subarray(0, 5).toString(), '%PDF-');
