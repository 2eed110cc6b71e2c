import type { Terminal } from './command.ts'
import type { Management } from './management.ts'
import { UsageError } from './read-words.ts'

/** The flag of every command that works over HTTP as well. */
export const urlFlag = {
  url: {
    type: 'string',
    value: '<address>',
    help: `Work on a running server, for example http://127.0.0.1:8080, with an access token
in QUOIN_TOKEN. Without --url the command opens the data directory (QUOIN_DATA)
itself, which works only while no server uses it.`,
  },
} as const

/** Runs `work` with the management endpoints of that server, or of the data directory, and closes them. */
export async function withManagement<T>(
  terminal: Terminal,
  url: string | undefined,
  work: (management: Management) => Promise<T>,
): Promise<T> {
  const management = await (url === undefined ? local(terminal) : remote(terminal, url))
  try {
    return await work(management)
  } finally {
    await management.close()
  }
}

async function local(terminal: Terminal): Promise<Management> {
  const { openLocalManagement } = await import('./local-management.ts')
  return openLocalManagement(terminal)
}

async function remote(terminal: Terminal, url: string): Promise<Management> {
  const { token } = terminal.options()
  if (token === '') throw new UsageError('--url needs an access token: set QUOIN_TOKEN to one.')
  const { remoteManagement } = await import('./remote-management.ts')
  return remoteManagement(url, token)
}
