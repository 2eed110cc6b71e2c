/**
 * `quoin <command> …`: finds the command, prints help, and turns what a command throws into one line and an exit code:
 * 0 done, 1 failed, 2 invalid usage.
 */
import { nearestName } from '../shared/names/nearest-name.ts'
import type { Command, Terminal } from './command.ts'
import { commands } from './commands.ts'
import { programVersion } from './program-version.ts'
import { type Flag, UsageError } from './read-words.ts'

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

/** `import <file> [--activate] [--url <address>]` */
function usageOf({ name, operands, flags }: Command): string {
  const places = operands.map((operand) => (operand.optional ? `[${operand.name}]` : operand.name))
  const options = Object.entries(flags).map(([flag, { value }]) => `[--${flag}${value ? ` ${value}` : ''}]`)
  return [name, ...places, ...options].join(' ')
}

function helpOf(command: Command): string {
  const { summary, flags, about } = command
  const options = Object.entries(flags)
  const width = Math.max(0, ...options.map(([name, flag]) => flagText(name, flag).length)) + 2
  const lines = options.map(([name, flag]) => {
    const help = flag.help.replaceAll('\n', `\n${' '.repeat(width + 2)}`)
    return `  ${flagText(name, flag).padEnd(width)}${help}`
  })
  const more = typeof about === 'function' ? about() : about
  const parts = [folded(`quoin ${usageOf(command)}`), summary, lines.join('\n'), more ?? '']
  return parts.filter((part) => part !== '').join('\n\n')
}

/** A usage that is wider than 120 characters goes on in the next line, in front of an option. */
function folded(usage: string): string {
  const [first = '', ...options] = usage.split(/ (?=\[--)/)
  const lines = [first]
  for (const option of options) {
    const line = `${lines.at(-1)} ${option}`
    if (line.length > 120) lines.push(`  ${option}`)
    else lines[lines.length - 1] = line
  }
  return lines.join('\n')
}

function flagText(name: string, { value }: Flag): string {
  return `--${name}${value === undefined ? '' : ` ${value}`}`
}

/** What `quoin help rows` prints: the commands that begin with the same word. */
function groupHelp(group: readonly Command[]): string {
  return [
    ...summaries(group),
    '',
    `quoin help ${group[0]?.name ?? ''} shows the options of one of them.`,
  ].join('\n')
}

function summaries(commands: readonly Command[]): readonly string[] {
  const places = commands.map((command) => usageOf({ ...command, flags: {} }))
  const width = Math.max(...places.map(({ length }) => length)) + 2
  return commands.map(({ summary }, at) => `  quoin ${places[at]?.padEnd(width)}${summary}`)
}

/** A blank line around commands that begin with the same word: a list of 47 lines is not read. */
function paragraphs(commands: readonly Command[]): readonly string[] {
  const families = commands.map(({ name }) => {
    const [word = ''] = name.split(' ')
    return commands.filter((other) => other.name.startsWith(`${word} `)).length > 1 ? word : ''
  })
  return summaries(commands).map((line, at) =>
    at > 0 && families[at] !== families[at - 1] ? `\n${line}` : line,
  )
}

/** What `quoin` alone prints. */
function overview(commands: readonly Command[]): string {
  return [
    'Quoin: a low-code application cluster.',
    '',
    ...paragraphs(commands),
    '',
    'quoin help <command> shows the options of a command; quoin help start lists all settings, which are',
    'environment variables. quoin --version prints the version.',
    'Exit codes: 0 done, 1 failed, 2 invalid usage.',
  ].join('\n')
}
