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
      terminal.complain(`${error.message} ${shortUsage(command)}`)
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

/** Behind what is wrong with a call, in the same line. */
function shortUsage(command: Command): string {
  const usage = `Usage: quoin ${usageOf(command)}`
  return usage.length <= WIDTH ? usage : `See quoin help ${command.name}.`
}

function helpOf(command: Command): string {
  const { summary, flags, about } = command
  const options = Object.entries(flags).map(([name, flag]) => [flagText(name, flag), flag.help] as const)
  // What a function makes is a table.
  const more = typeof about === 'function' ? about() : reflowed(about ?? '')
  const parts = [folded(`quoin ${usageOf(command)}`), reflowed(summary), table(options).join('\n'), more]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Of a terminal as it is opened. */
const WIDTH = 80

/** A long usage goes on in the next line, in front of an option. */
function folded(usage: string): string {
  const [first = '', ...options] = usage.split(/ (?=\[--)/)
  return joined([first, ...options], WIDTH - 2).join('\n  ')
}

/** Pieces with blanks between them, in as few lines as hold them. */
function joined(pieces: readonly string[], width: number): readonly string[] {
  const lines: string[] = []
  for (const piece of pieces) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + piece.length > width) lines.push(piece)
    else lines[lines.length - 1] = `${line} ${piece}`
  }
  return lines
}

/** Paragraphs, and tables of two columns that are indented. What else has columns stays as it is. */
function reflowed(text: string): string {
  const parts = text.split('\n\n').map((part) => {
    if (part.startsWith('  ')) return table(rowsOf(part)).join('\n')
    return part.includes('  ') ? part : joined(part.split(/[ \n]/), WIDTH).join('\n')
  })
  return parts.join('\n\n')
}

function rowsOf(part: string): readonly (readonly [string, string])[] {
  const lines = part.replaceAll(/\n {3,}/g, ' ').split('\n')
  return lines.map((line) => {
    const [left = '', right = ''] = line.trim().split(/ {2,}/)
    return [left, right]
  })
}

/** Two columns. */
function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => {
    if (right === '') return `  ${left}`
    const lines = joined(right.split(/[ \n]/), WIDTH - width - 2)
    return `  ${left.padEnd(width)}${lines.join(`\n${' '.repeat(width + 2)}`)}`
  })
}

function flagText(name: string, { value }: Flag): string {
  return `--${name}${value === undefined ? '' : ` ${value}`}`
}

/** What `quoin help rows` prints: the commands that begin with the same word. */
function groupHelp(group: readonly Command[]): string {
  return [
    ...table(group.map((one) => [`quoin ${usageOf({ ...one, flags: {} })}`, one.summary])),
    '',
    `quoin help ${group[0]?.name ?? ''} shows the options of one of them.`,
  ].join('\n')
}

/** A blank line around commands that begin with the same word: a list of 47 lines is not read. */
function paragraphs(commands: readonly Command[]): readonly string[] {
  const families = commands.map(({ name }) => {
    const [word = ''] = name.split(' ')
    return commands.filter((other) => other.name.startsWith(`${word} `)).length > 1 ? word : ''
  })
  return table(commands.map(({ name, summary }) => [`quoin ${name}`, summary])).map((line, at) =>
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
    reflowed(
      'quoin help <command> shows what a command takes; quoin help start lists all settings, which are environment variables. quoin --version prints the version. Exit codes: 0 done, 1 failed, 2 invalid usage.',
    ),
  ].join('\n')
}
