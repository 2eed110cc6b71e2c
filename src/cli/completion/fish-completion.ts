import type { Completes } from '../read-words.ts'
import { type Place, quoted } from './completion-places.ts'

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
    return `complete -c quoin ${when} ${what}${value ? ` -r ${given(value.completes)}` : ''} -d ${quoted(help)}`
  })
  return completes === undefined ? lines : [...lines, `complete -c quoin ${when} ${given(completes)}`]
}

function given(completes: Completes | undefined): string {
  if (completes === 'file') return '-F'
  if (completes === 'folder') return "-a '(__fish_complete_directories)'"
  return completes === undefined ? '-f' : `-a ${quoted(completes.join(' '))}`
}
