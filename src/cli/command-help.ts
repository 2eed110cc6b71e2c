import type { Command } from './command.ts'
import type { Flag } from './read-words.ts'

/** `import <file> [--activate] [--url <address>]` */
export function usageOf({ name, operands, flags }: Command): string {
  const places = operands.map((operand) => (operand.optional ? `[${operand.name}]` : operand.name))
  const options = Object.entries(flags).map(([flag, { value }]) => `[--${flag}${value ? ` ${value}` : ''}]`)
  return [name, ...places, ...options].join(' ')
}

export function helpOf(command: Command): string {
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
export function groupHelp(group: readonly Command[]): string {
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
export function overview(commands: readonly Command[]): string {
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
