#!/bin/sh
# A seat as one would write it in an afternoon: the pane's lines become prompts and the agent's lines are printed.
# It knows nothing of the contract (no record, no posts, no raw terminal, no answer to a permission request) and is
# kept that way on purpose: the kit has to say so, clause by clause. Usage: shell_runner.sh [AGENT [ARGUMENT…]]
[ $# -gt 0 ] || set -- dsh acp
seat=$(mktemp -d) || exit 1
trap 'rm -rf "$seat"' EXIT
trap 'exit 129' HUP
trap 'exit 143' TERM

prompts() {
    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
    printf '{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"%s","mcpServers":[]}}\n' "$PWD"
    number=2
    while IFS= read -r line; do
        number=$((number + 1))
        session=$(cat "$seat/session" 2>/dev/null)
        text=$(printf '%s' "$line" | sed 's/[\\"]/\\&/g')
        printf '{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":"%s",' "$number" "$session"
        printf '"prompt":[{"type":"text","text":"%s"}]}}\n' "$text"
    done
}

answers() {
    while IFS= read -r line; do
        session=$(printf '%s\n' "$line" | sed -n 's/.*"result":.*"sessionId": *"\([^"]*\)".*/\1/p')
        [ -z "$session" ] || printf '%s' "$session" >"$seat/session"
        printf '%s\n' "$line"
    done
}

prompts | "$@" | answers
