import type { Command } from '../command.ts'
import type { Completes } from '../read-words.ts'

// What can follow the words that were typed, as data from which the script of each shell is written. Nothing is asked of
// Quoin while a user types: the commands and flags of one version are known.

export interface Choice {
  readonly word: string
  readonly help: string
}

/** After a command, or after `quoin` or the first word of some commands. */
interface Place {
  /** `user create`; empty for `quoin` itself. */
  readonly words: string
  readonly choices: readonly Choice[]
  /** What the operands are. */
  readonly completes: Completes | undefined
  /** Flags that take a value, with what it is. */
  readonly values: readonly { readonly flag: string; readonly completes: Completes | undefined }[]
}

export function placesOf(commands: readonly Command[]): Place[] {
  const groups = [
    ...new Set(commands.flatMap(({ name }) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : []))),
  ]
  const first = commands
    .filter(({ name }) => !name.includes(' '))
    .map(({ name, summary }): Choice => ({ word: name, help: summary }))
  const more = [
    ...groups.map((word): Choice => ({ word, help: `Commands that begin with ${word}.` })),
    { word: 'help', help: 'Shows the options of a command.' },
    { word: '--version', help: 'Prints the version.' },
  ]
  const none = { completes: undefined, values: [] }
  return [
    { words: '', choices: [...first, ...more], ...none },
    { words: 'help', choices: [...first, ...more.slice(0, groups.length)], ...none },
    ...groups.map((group): Place => {
      const members = commands.filter(({ name }) => name.startsWith(`${group} `))
      return {
        words: group,
        choices: members.map(({ name, summary }) => ({ word: name.slice(group.length + 1), help: summary })),
        ...none,
      }
    }),
    ...commands.map(placeOf),
  ]
}

function placeOf({ name, flags, operands }: Command): Place {
  const listed = Object.entries(flags)
  return {
    words: name,
    choices: [
      ...listed.map(([flag, { help }]) => ({ word: `--${flag}`, help: help.split(/[.;\n]/)[0] ?? '' })),
      { word: '--help', help: 'Shows the options.' },
    ],
    completes: operands.find(({ completes }) => completes !== undefined)?.completes,
    values: listed
      .filter(([, { type }]) => type === 'string')
      .map(([flag, { completes }]) => ({ flag: `--${flag}`, completes })),
  }
}

/** In single quotes, as all three shells read it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** For bash 3.2 and newer. `line` is what stands before the word that is completed, each word with a space behind it. */
export function bashCompletion(places: readonly Place[]): string {
  // The longest first: `user create` before `user`.
  const cases = places.toSorted((a, b) => b.words.length - a.words.length).map(bashCase)
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

function bashCase({ words, choices, completes, values }: Place): string {
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

export function fishCompletion(places: readonly Place[]): string {
  return `# quoin for fish: quoin completion fish > ~/.config/fish/completions/quoin.fish
function __quoin_after
    set -l typed (commandline -opc)[2..-1]
    test "$typed" = "$argv"
end
function __quoin_in
    set -l typed (commandline -opc)[2..-1]
    string match -q -- "$argv *" "$typed "
end
complete -c quoin -f
${places.flatMap(linesOf).join('\n')}`
}

function linesOf({ words, choices, completes, values }: Place): string[] {
  const isCommand = choices.some(({ word }) => word === '--help')
  const when = `-n ${quoted(`${isCommand ? '__quoin_in' : '__quoin_after'} ${words}`.trim())}`
  const lines = choices.map(({ word, help }) => {
    const value = values.find(({ flag }) => flag === word)
    const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
    return `complete -c quoin ${when} ${what}${value ? ` -r ${input(value.completes)}` : ''} -d ${quoted(help)}`
  })
  return completes === undefined ? lines : [...lines, `complete -c quoin ${when} ${input(completes)}`]
}

function input(completes: Completes | undefined): string {
  if (completes === 'file') return '-F'
  if (completes === 'folder') return "-a '(__fish_complete_directories)'"
  return completes === undefined ? '-f' : `-a ${quoted(completes.join(' '))}`
}

export function zshCompletion(places: readonly Place[]): string {
  const cases = places.toSorted((a, b) => b.words.length - a.words.length).map(zshCase)
  return `#compdef quoin
# quoin for zsh: source <(quoin completion zsh), after compinit
_quoin() {
  local line="\${(j: :)words[2,CURRENT-1]} " previous="\${words[CURRENT-1]}"
  local -a choices
  [[ "$line" == ' ' ]] && line=''
  case "$line" in
${cases.join('\n')}
  esac
}
compdef _quoin quoin`
}

function zshCase({ words, choices, completes, values }: Place): string {
  const pattern = words === '' ? "''" : `${quoted(`${words} `)}*`
  const described = choices.map(({ word, help }) => quoted(`${word}:${help.replaceAll(':', '\\:')}`))
  const flags = values.map(({ flag, completes: value }) => `${flag}) ${actionOf(value)}; return ;;`)
  const lines = [
    ...(flags.length === 0 ? [] : [`      case "$previous" in ${flags.join(' ')} esac`]),
    `      choices=(${described.join(' ')})`,
    `      _describe quoin choices`,
    ...(completes === undefined ? [] : [`      ${actionOf(completes)}`]),
  ]
  return `    ${pattern})\n${lines.join('\n')}\n      ;;`
}

function actionOf(completes: Completes | undefined): string {
  if (completes === 'file') return '_files'
  if (completes === 'folder') return '_files -/'
  return completes === undefined ? ':' : `compadd -- ${completes.join(' ')}`
}
