#!/usr/bin/env bash
#
# Builds the tasks API out of blocks, over HTTP and from nothing, then walks through everything it promises.
#
#   QUOIN_ADMIN_PASSWORD=… examples/tasks-walk.sh [address] [password of admin]
#
# The address is http://127.0.0.1:8080 if not given. Set VERBOSE=1 to see every request and reply. It needs bash and
# curl. It prints a line for each check and ends with 1 if one failed; what it built it removes again.
#
# In five minutes: a blueprint is a flow of blocks. A block has in-pins and out-pins. A pin holds a value, an expression that
# calculates one, or a wire, which is written on the block that receives it. A trigger block opens an address of your API,
# the blocks behind it do the work, a reply block answers.
set -euo pipefail

address=${1:-http://127.0.0.1:8080}
password=${2:-${QUOIN_ADMIN_PASSWORD:-}}
api=$address/api/v1
name='Tasks, walked'
uri=walked-tasks

if [ -z "$password" ]; then
  echo "Whose password? Set QUOIN_ADMIN_PASSWORD, or give it as the second word: $0 $address <password>" >&2
  exit 2
fi

# --- Requests and replies -------------------------------------------------------------------------------------------

token=
status=
body=

# call METHOD PATH [JSON]: sends a request, signed in if there is a token, and sets status and body.
call() {
  local method=$1 path=$2 json=${3:-} reply
  local options=(--silent --show-error --max-time 30 --request "$method" --write-out '\n%{http_code}')
  if [ -n "$token" ]; then options+=(--header "authorization: Bearer $token"); fi
  if [ -n "$json" ]; then options+=(--header 'content-type: application/json' --data-binary @-); fi
  if ! reply=$(printf '%s' "$json" | curl "${options[@]}" "$api$path"); then
    echo "No answer from $api. Is Quoin running? Start it with: npm start" >&2
    exit 1
  fi
  status=${reply##*$'\n'}
  body=${reply%$'\n'*}
  # Not the sign-in: it holds the password.
  if [ -n "${VERBOSE:-}" ] && [ "$path" != /auth/signin ]; then
    printf '  > %s %s %s\n  < %s %s\n' "$method" "$path" "$json" "$status" "$body" >&2
  fi
}

# anonymously METHOD PATH [JSON]: the same as an anonymous caller.
anonymously() {
  local token=
  call "$@"
}

# must: ends the walk unless the last request went well; without it nothing after it makes sense.
must() {
  case $status in
    2??) ;;
    *) echo "FAILED   $1: $status $body" >&2 && exit 1 ;;
  esac
}

# The guid of the record in the body. Every record carries it in its _meta.
guid() { printf '%s' "$body" | sed -n 's/^{.*"_meta":{[^}]*"guid":"\([^"]*\)".*/\1/p'; }

# text NAME: the first text field of that name in the body.
text() { printf '%s' "$body" | grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4 || true; }

# titles: the titles in a list, in their order.
titles() { printf '%s' "$body" | grep -o '"title":"[^"]*"' | cut -d '"' -f 4 | tr '\n' ' ' || true; }

# --- Checks ---------------------------------------------------------------------------------------------------------

passed=0
failed=0

# check WHAT EXPECTED GOT
check() {
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
    printf 'ok       %s\n' "$1"
  else
    failed=$((failed + 1))
    printf 'FAILED   %s: expected %s, got %s\n' "$1" "$2" "$3"
  fi
}

# check_body WHAT PATTERN: the body matches a basic regular expression.
check_body() {
  if printf '%s' "$body" | grep -q "$2"; then check "$1" fits fits; else check "$1" "$2" "$body"; fi
}

# --- Blocks ---------------------------------------------------------------------------------------------------------

# block TYPE NAME [fields=JSON] [scopes=JSON] [staged=true] PIN…: makes a block of the blueprint and prints its guid.
# A pin is  id=JSON  for a value,  id:EXPRESSION  for an expression, or  id@GUID.PIN  for a wire from that pin of another
# block. What is sent looks so:
#
#   POST /api/v1/blueprintactions
#   { "type": "function_search", "name": "search", "blueprint_guid": "…",
#     "in_pins": [ { "id": "flow",    "from": [{ "block": "…", "pin": "flow" }] },
#                  { "id": "storage", "value": "walked-tasks" },
#                  { "id": "limit",   "expression": "params.limit" } ],
#     "fields": { }, "scopes": [ ] }
block() {
  local type=$1 name=$2 more='' pins='' from one text
  shift 2
  for one in "$@"; do
    case $one in
      fields=* | scopes=* | staged=*) more+=",\"${one%%=*}\":${one#*=}" ;;
      flow@* | value@*)
        from=${one#*@}
        pins+=",{\"id\":\"${one%%@*}\",\"from\":[{\"block\":\"${from%%.*}\",\"pin\":\"${from#*.}\"}]}"
        ;;
      [a-z]*:*)
        text=${one#*:}
        pins+=",{\"id\":\"${one%%:*}\",\"expression\":\"${text//\"/\\\"}\"}"
        ;;
      *=*) pins+=",{\"id\":\"${one%%=*}\",\"value\":${one#*=}}" ;;
    esac
  done
  call POST /blueprintactions \
    "{\"type\":\"$type\",\"name\":\"$name\",\"blueprint_guid\":\"$blueprint\",\"in_pins\":[${pins#,}]$more}"
  must "making the block $name"
  guid
}

# remove_blueprint GUID: one that is active has to be set inactive first.
remove_blueprint() {
  call PUT "/blueprints/update/set/inactive/$1"
  call DELETE "/blueprints/$1"
}

blueprint=
clean_up() {
  if [ -n "$blueprint" ]; then remove_blueprint "$blueprint"; fi
  if [ -n "$token" ]; then call POST /auth/signout; fi
}
trap clean_up EXIT

# === 1. Sign in =====================================================================================================

echo "Walking through $api"
call GET /info
check 'anyone may read the version' 200 "$status"

quoted=$(printf '%s' "$password" | sed 's/[\\"]/\\&/g')
call POST /auth/signin "{\"username\":\"admin\",\"password\":\"$quoted\"}"
must 'signing in'
token=$(text access_token)
check 'signing in gives a token' 200 "$status"

# === 2. Build the blueprint, block by block =========================================================================

# An earlier walk that was interrupted has left its blueprint behind.
call POST /blueprints/search "{\"filters\":{\"name\":\"$name\"}}"
for old in $(printf '%s' "$body" | grep -o '"_meta":{[^}]*"guid":"[^"]*"' | sed 's/.*"guid":"//; s/"$//'); do
  remove_blueprint "$old"
done

call POST /blueprints "{\"name\":\"$name\",\"description\":\"Made by examples/tasks-walk.sh\"}"
must 'creating the blueprint'
blueprint=$(guid)

# Where the tasks are kept: blocks name the storage.
storage="storage=\"$uri\""

# GET /walked-tasks: the tasks, newest first; ?status= filters, ?limit= and ?offset= page. Public.
list=$(block on_startup_register_uri_get list "uri=\"$uri\"" 'scopes=["*public"]')
search=$(block function_search search "flow@$list.flow" "$storage" 'sort="_meta.created desc"' \
  'where:doc.status == maybe(params.status)' 'limit:params.limit' 'offset:params.offset')
block httpconnection_set_json listed "flow@$search.flow" "value@$search.documents" >/dev/null

# POST /walked-tasks: needs a title, checked before anything is stored. Only for users who are signed in.
create=$(block on_startup_register_uri_post create "uri=\"$uri\"" 'scopes=["*loggedin"]')
has_title=$(block branch has_title "flow@$create.flow" 'condition:!isEmpty(body.title)')
block fail title_missing "flow@$has_title.false" status=400 'message="title is required"' >/dev/null
created=$(block function_create_document_from_mutations create_document "flow@$has_title.true" "$storage" 'set:body')
block httpconnection_set_json created "flow@$created.flow" code=201 "value@$created.document" >/dev/null

# GET /walked-tasks/{guid}: without a task the reply is 404, because the way not_found leads nowhere.
read_one=$(block on_startup_register_uri_get read "uri=\"$uri/{guid}\"" 'scopes=["*public"]')
found=$(block function_get_document read_document "flow@$read_one.flow" "$storage" 'guid:params.guid')
block httpconnection_set_json found "flow@$found.flow" "value@$found.document" >/dev/null

# PUT /walked-tasks/{guid}: changes the fields that are sent.
update=$(block on_startup_register_uri_put update "uri=\"$uri/{guid}\"" 'scopes=["*loggedin"]')
updated=$(block function_update_document_mutations update_document "flow@$update.flow" "$storage" 'guid:params.guid' \
  'set:body')
block httpconnection_set_json updated "flow@$updated.flow" "value@$updated.document" >/dev/null

# DELETE /walked-tasks/{guid}: a soft delete. The reply block is only staged, to show what that means.
delete=$(block on_startup_register_uri_delete delete "uri=\"$uri/{guid}\"" 'scopes=["*loggedin"]')
removed=$(block function_remove_document remove "flow@$delete.flow" "$storage" 'guid:params.guid')
staged=$(block httpconnection_set_json removed "flow@$removed.flow" 'value:{ guid: params.guid, removed: true }' \
  staged=true)

call GET "/blueprintactions/$staged"
check_body 'a staged block exists only for its builder' '"is_created":false'
call POST "/blueprintactions/unsaved/$staged"
check 'saving what is staged' 200 "$status"
call GET "/blueprintactions/$staged"
check_body 'the saved block has nothing staged' '"unsaved":null'

# === 3. Activate it =================================================================================================

call GET "/$uri"
check 'before it is active the address does not exist' 404 "$status"
call POST /blueprintactions/search "{\"filters\":{\"blueprint_guid\":\"$blueprint\"},\"count\":true}"
blocks=${body//[!0-9]/}
call GET "/blueprints/deploy/$blueprint/actions"
check 'all blocks wait to be deployed' "$blocks" "$(printf '%s' "$body" | grep -o '"change":"created"' | grep -c .)"
call PUT "/blueprints/update/set/active/$blueprint"
check 'activating' 200 "$status"
must 'activating'
call GET "/$uri"
check 'now it answers' 200 "$status"

# === 4. Walk through the tasks ======================================================================================

# Tasks of earlier walks are still in the storage, so this walk marks its own.
open=open-$$-$RANDOM
closed=closed-$$-$RANDOM

call GET "/$uri?limit=1000"
before=$body
call POST "/$uri" "{\"status\":\"$open\"}"
check 'create without a title is refused' 400 "$status"
check_body 'and the error names the title' '"error":"[^"]*title'
call POST "/$uri" "{\"title\":\"  \",\"status\":\"$open\"}"
check 'create with an empty title is refused' 400 "$status"
anonymously POST "/$uri" "{\"title\":\"Not signed in\",\"status\":\"$open\"}"
check 'create without signing in: there is no such address' 404 "$status"
call GET "/$uri?limit=1000"
check 'nothing of these was stored' "$before" "$body"

call POST "/$uri" "{\"title\":\"First\",\"status\":\"$open\"}"
check 'create' 201 "$status"
first=$(guid)
check_body 'the new task has a guid' '"guid":"[0-9a-f]\{8\}-'
call POST "/$uri" "{\"title\":\"Second\",\"status\":\"$closed\"}"
check 'create another' 201 "$status"
second=$(guid)
call POST "/$uri" "{\"title\":\"Third\",\"status\":\"$open\"}"
check 'create a third' 201 "$status"
third=$(guid)

anonymously GET "/$uri?limit=3"
check 'anyone may list' 200 "$status"
check 'the newest is the first' 'Third Second First ' "$(titles)"
call GET "/$uri?status=$open"
check 'status filters exactly' 'Third First ' "$(titles)"
call GET "/$uri?status=open"
check 'a part of a status finds nothing' '[]' "$body"
call GET "/$uri?limit=1"
check 'limit' 'Third ' "$(titles)"
call GET "/$uri?limit=1&offset=1"
check 'limit and offset' 'Second ' "$(titles)"
call GET "/$uri?limit=abc"
check 'a limit that is no number is refused' 400 "$status"
check_body 'and the error names the limit' '"error":"[^"]*limit'
call GET "/$uri?offset=-1"
check 'a negative offset is refused' 400 "$status"

nobody=01900000-0000-7000-8000-000000000000
anonymously GET "/$uri/$first"
check 'anyone may read one' 200 "$status"
check 'and it is the right one' "First $first" "$(text title) $(guid)"
call GET "/$uri/$nobody"
check 'read an unknown one' 404 "$status"
check_body 'and the error says so' '"error":"[^"]*not found'

call PUT "/$uri/$first" "{\"status\":\"$closed\"}"
check 'update' 200 "$status"
check 'only what was sent has changed' "First $closed" "$(text title) $(text status)"
call PUT "/$uri/$nobody" "{\"status\":\"$closed\"}"
check 'update an unknown one' 404 "$status"
anonymously PUT "/$uri/$first" '{"title":"Changed anonymously"}'
check 'update without signing in: there is no such address' 404 "$status"
call GET "/$uri/$first"
check 'and nothing was changed' First "$(text title)"

anonymously DELETE "/$uri/$first"
check 'delete without signing in: there is no such address' 404 "$status"
call DELETE "/$uri/$first"
check 'delete' 200 "$status"
check 'the reply confirms it' "{\"guid\":\"$first\",\"removed\":true}" "$body"
call GET "/$uri/$first"
check 'a deleted task is not found' 404 "$status"
call DELETE "/$uri/$first"
check 'nor can it be deleted twice' 404 "$status"
call GET "/$uri?status=$closed"
check 'nor is it listed' 'Second ' "$(titles)"

# === 5. Off and on again, without a restart =========================================================================

call PUT "/blueprints/update/set/inactive/$blueprint"
check 'deactivating' 200 "$status"
call GET "/$uri/$second"
check 'an inactive blueprint does not answer' 404 "$status"
call PUT "/blueprints/update/set/active/$blueprint"
check 'activating again' 200 "$status"
call GET "/$uri/$second"
check 'it answers again, with what it had' "200 Second" "$status $(text title)"

for one in $second $third; do call DELETE "/$uri/$one"; done

echo
echo "$((passed + failed)) checks, $failed failed"
[ "$failed" -eq 0 ]
