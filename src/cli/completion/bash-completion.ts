import type { Completes } from '../read-words.ts'
import { type Place, quoted } from './completion-places.ts'

/** For bash 3.2 and newer. `line` is what stands before the word that is completed, each word with a space behind it. */
export function bashCompletion(places: readonly Place[]): string {
  // The longest first: `user create` before `user`.
  const cases = places.toSorted((a, b) => b.words.length - a.words.length).map(caseOf)
  return `# quoin for bash: source <(quoin completion bash)
_quoin() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local line='' words='' kind='' IFS=$' \\t\\n'
  local -i at
  for (( at = 1; at < COMP_CWORD; at++ )); do line+="\${COMP_WORDS[at]} "; done
  case "$line" in
${cases.join('\n')}
  esac
  case "$current$kind" in
    -*) kind='' ;;
    *) [ -z "$kind" ] || words='' ;;
  esac
  IFS=$'\\n'
  case "$kind" in
    file) COMPREPLY=( $(compgen -f -- "$current") ) ;;
    folder) COMPREPLY=( $(compgen -d -- "$current") ) ;;
    *) COMPREPLY=( $(IFS=' '; compgen -W "$words" -- "$current") ) ;;
  esac
  [ -z "$kind" ] || compopt -o filenames 2>/dev/null || true
}
complete -F _quoin quoin`
}

function caseOf({ words, choices, completes, values }: Place): string {
  const pattern = words === '' ? "''" : `${quoted(`${words} `)}*`
  const list = choices.map(({ word }) => word).join(' ')
  const flags = values.map(({ flag, completes: value }) => `${flag}) ${setting(value, '')} ;;`)
  const chosen = setting(completes, list)
  const inside = flags.length === 0 ? chosen : `case "$previous" in ${flags.join(' ')} *) ${chosen} ;; esac`
  return `    ${pattern}) ${inside} ;;`
}

function setting(completes: Completes | undefined, list: string): string {
  if (completes === 'file' || completes === 'folder') return `kind=${completes} words=${quoted(list)}`
  return `words=${quoted([...(completes ?? []), ...(list === '' ? [] : [list])].join(' '))}`
}
