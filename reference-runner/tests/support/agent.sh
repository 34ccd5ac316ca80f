#!/bin/sh
# A small scripted ACP agent: it answers by what the prompt says. Each line it gets is kept in $AGENT_HEARD.
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$AGENT_HEARD"
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|-\{0,1\}[0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$1" "$2"; }
  case $line in
    *'"method":"initialize"'*)
      answer "$id" '"result":{"protocolVersion":1,"agentInfo":{"name":"scripted","version":"1"},"agentCapabilities":{"loadSession":true}}' ;;
    *'"method":"session/new"'*)
      echo 'a log line on stdout'
      answer "$id" '"result":{"sessionId":"s/ü-1"}' ;;
    *'"method":"session/load"'*)
      case $line in
        *'"sessionId":"gone"'*)
          answer "$id" '"error":{"code":-32002,"message":"Resource not found","data":{"sessionId":"gone"}}' ;;
        *)
          echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"kept","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"replayed"}}}}'
          answer "$id" '"result":null' ;;
      esac ;;
    *'"method":"session/prompt"'*)
      case $line in
        *wait*) turn=$id ;;
        *permission*)
          turn=$id
          echo '{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s/ü-1","toolCall":{"toolCallId":"call-1","title":"rm -rf /"},"options":[]}}' ;;
        *leave*) exit 7 ;;
        *goodbye*)
          answer "$id" '"result":{"stopReason":"end_turn"}'
          exit 0 ;;
        *) answer "$id" '"result":{"stopReason":"end_turn"}' ;;
      esac ;;
    *'"method":"session/cancel"'*) answer "$turn" '"result":{"stopReason":"cancelled"}' ;;
    *'"outcome":"cancelled"'*) answer "$turn" '"result":{"stopReason":"end_turn"}' ;;
  esac
done
