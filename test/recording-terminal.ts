import { randomFillSync } from 'node:crypto'
import type { Terminal } from '../src/cli/command.ts'
import { runCommand } from '../src/cli/run-command.ts'
import { readOptions } from '../src/options/options.ts'

export interface CommandEnd {
  readonly code: number
  /** What it wrote to the standard output and to the standard error. */
  readonly printed: string
  readonly complained: string
}

/** The sign-ins of the person who runs the tests are not used. */
const noSignIns = { XDG_CONFIG_HOME: '/nowhere/at/all' }

/** What is written to it is added to these lists. */
export function recordingTerminal(
  environment: Readonly<Record<string, string>> = {},
  {
    printed = [],
    complained = [],
    input = '',
  }: { printed?: string[]; complained?: string[]; input?: string } = {},
): Terminal {
  return {
    options: () => ({
      ...readOptions({ ...noSignIns, ...environment }),
      token: environment.QUOIN_TOKEN ?? '',
    }),
    print: (text) => void printed.push(text),
    complain: (text) => void complained.push(text),
    announce: (text) => void complained.push(text),
    readLine: async () => input,
    readSecret: async () => input,
    clock: Date.now,
    random: (bytes) => void randomFillSync(bytes),
  }
}

/** Runs `quoin …` in this process, with these environment variables and this line on the standard input. */
export async function quoinCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CommandEnd> {
  const printed: string[] = []
  const complained: string[] = []
  const terminal = recordingTerminal(environment, { printed, complained, input })
  const code = await runCommand(words, terminal)
  return { code, printed: printed.join('\n'), complained: complained.join('\n') }
}
