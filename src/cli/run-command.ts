/**
 * `quoin <command> …`: finds the command, answers `--help`, and turns what a command throws into one line and an exit
 * code: 0 done, 1 failed, 2 the words made no sense.
 */
import { OptionError } from '../options.ts'
import { QuoinError } from '../shared/errors.ts'
import { backup } from './backup.ts'
import { check } from './check.ts'
import { type Command, type Terminal, UsageError } from './command.ts'
import { exportBlueprintFile } from './export.ts'
import { importBlueprintFile } from './import.ts'
import { Refused } from './management.ts'
import { migrate } from './migrate.ts'
import { programVersion } from './program-version.ts'
import { restore } from './restore.ts'
import { start } from './start.ts'
import { userCreate } from './user-create.ts'
import { userResetPassword } from './user-reset-password.ts'

export const commands: readonly Command[] = [
  start,
  check,
  exportBlueprintFile,
  importBlueprintFile,
  userCreate,
  userResetPassword,
  backup,
  restore,
  migrate,
]

export async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  const [first] = words
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
    terminal.print(overview())
    return 0
  }
  if (first === 'version' || first === '--version' || first === '-v') {
    terminal.print(await programVersion())
    return 0
  }
  const command = commands.find((one) => nameOf(one).every((word, place) => words[place] === word))
  if (!command) {
    terminal.complain(`There is no command: quoin ${words.join(' ')}. See quoin --help.`)
    return 2
  }
  const rest = words.slice(nameOf(command).length)
  if (rest.includes('--help') || rest.includes('-h')) {
    const help = typeof command.help === 'string' ? command.help : command.help()
    terminal.print(`quoin ${command.usage}\n\n${command.summary}\n\n${help}`)
    return 0
  }
  try {
    return await command.run(rest, terminal)
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.complain(`${error.message} Usage: quoin ${command.usage}`)
      return 2
    }
    terminal.complain(reasonOf(error))
    return 1
  }
}

function nameOf(command: Command): string[] {
  return command.usage.split(' ').filter((word) => /^[a-z]/.test(word))
}

function overview(): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length)) + 2
  const lines = commands.map(({ usage, summary }) => `  quoin ${usage.padEnd(width)}${summary}`)
  return [
    'Quoin: a low-code application cluster.',
    '',
    ...lines,
    '',
    'Settings come from the environment: quoin start --help lists them. Each command has --help.',
    'quoin --version prints the version.',
    'Exit codes: 0 done, 1 failed, 2 the words made no sense.',
  ].join('\n')
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof QuoinError || error instanceof Refused || error instanceof OptionError)
    return error.message
  const code = 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE')
    return `${error.message}. Another program listens there; set QUOIN_PORT to another port.`
  return error.message
}
