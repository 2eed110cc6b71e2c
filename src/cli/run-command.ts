/**
 * `quoin <command> …`: finds the command, prints help, and turns what a command throws into one line and an exit code:
 * 0 done, 1 failed, 2 invalid usage.
 */

import { nearestName } from '../shared/names/nearest-name.ts'
import type { Command, Terminal } from './command.ts'
import { groupHelp, helpOf, overview, usageOf } from './command-help.ts'
import { commands } from './commands.ts'
import { programVersion } from './program-version.ts'
import { UsageError } from './read-words.ts'

const helpWords: readonly (string | undefined)[] = ['help', '--help', '-h']
const versionWords: readonly (string | undefined)[] = ['version', '--version', '-v']

export async function runCommand(typed: readonly string[], terminal: Terminal): Promise<number> {
  const isHelp = helpWords.includes(typed[0])
  const words = isHelp ? typed.slice(1) : typed
  if (words.length === 0) {
    terminal.print(overview(commands))
    return 0
  }
  if (versionWords.includes(words[0])) {
    terminal.print(await programVersion())
    return 0
  }
  const command = commands.find(({ name }) => name.split(' ').every((word, place) => words[place] === word))
  const asksHelp = isHelp || words.includes('--help') || words.includes('-h')
  if (!command) {
    const group = asksHelp ? groupOf(words) : []
    if (group.length > 0) {
      terminal.print(groupHelp(group))
      return 0
    }
    terminal.complain(noCommand(words))
    return 2
  }
  const rest = words.slice(command.name.split(' ').length)
  if (asksHelp) {
    terminal.print(helpOf(command))
    return 0
  }
  try {
    return await command.run(rest, terminal)
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.complain(`${error.message} Usage: quoin ${usageOf(command)}`)
      return 2
    }
    terminal.complain(reasonOf(error))
    return 1
  }
}

/** The commands that begin with the only word that was typed, options aside. */
function groupOf([first = '', second]: readonly string[]): readonly Command[] {
  return second === undefined || second.startsWith('-')
    ? commands.filter(({ name }) => name.startsWith(`${first} `))
    : []
}

/** One line that says what there is instead. */
function noCommand(words: readonly string[]): string {
  const [first = '', second] = words
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  const secondWords = group.map(({ name }) => name.slice(first.length + 1))
  if (group.length > 0 && (second === undefined || second.startsWith('-')))
    return `quoin ${first} needs one of: ${secondWords.join(', ')}. See quoin --help.`
  const nearest = group.length > 0 ? nearestIn(group, words) : nearestIn(commands, words)
  const meant = nearest === undefined ? 'See quoin --help.' : `Did you mean quoin ${nearest}?`
  return `There is no command: quoin ${words.join(' ')}. ${meant}`
}

/** By as many words as the name has: what follows may be operands. */
function nearestIn(among: readonly Command[], words: readonly string[]): string | undefined {
  const names = among.map(({ name }) => name)
  const two = names.filter((name) => name.includes(' '))
  const one = names.filter((name) => !name.includes(' '))
  return nearestName(words.slice(0, 2).join(' '), two) ?? nearestName(words[0] ?? '', one)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE')
    return `${error.message}. Another program listens there; set QUOIN_PORT to another port.`
  return error.message
}
