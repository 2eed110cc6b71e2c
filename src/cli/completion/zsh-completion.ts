import type { Completes } from '../read-words.ts'
import { type Place, quoted } from './completion-places.ts'

export function zshCompletion(places: readonly Place[]): string {
  const cases = places.toSorted((a, b) => b.words.length - a.words.length).map(caseOf)
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

function caseOf({ words, choices, completes, values }: Place): string {
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
