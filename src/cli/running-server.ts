import type { Terminal } from './command.ts'
import { UsageError } from './read-words.ts'
import { readSignIns, signInPath } from './sign-in/sign-in-file.ts'

/** Addresses on which a server hears all of the machine. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * The server of a command that needs a running one, where no --url names it: with a token in QUOIN_TOKEN that of this machine, else
 * the only one with a sign-in. Throws UsageError.
 */
export async function runningServer({ options }: Pick<Terminal, 'options'>): Promise<string> {
  const { token, configHome, host, port } = options()
  if (token !== '') {
    const name = everywhere[host] ?? host
    return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  }
  const [only, ...more] = Object.keys(await readSignIns(signInPath(configHome))).sort()
  if (only === undefined)
    throw new UsageError(
      'Triggers run in a running server: run quoin login <address> <username> first, or set QUOIN_TOKEN.',
    )
  if (more.length > 0)
    throw new UsageError(
      `There are sign-ins to ${[only, ...more].join(' and ')}: name one of them with --url.`,
    )
  return only
}
