import { type Terminal, UsageError } from './command.ts'
import { openLocalManagement } from './local-management.ts'
import type { Management } from './management.ts'
import { remoteManagement } from './remote-management.ts'

/** The flag of every command that works over HTTP as well. */
export const urlOption = { url: { type: 'string' } } as const

export const urlHelp = `  --url <address>   Work on a running server, for example http://127.0.0.1:8080. Needs an access token
                    in QUOIN_TOKEN. Without --url the command opens the data directory (QUOIN_DATA)
                    itself, which only works while no server uses it.`

/** Runs `work` with the management endpoints that the words point to, and lets go of them. */
export async function withManagement<T>(
  terminal: Terminal,
  url: string | undefined,
  work: (management: Management) => Promise<T>,
): Promise<T> {
  const management = url === undefined ? await openLocalManagement(terminal) : remote(terminal, url)
  try {
    return await work(management)
  } finally {
    await management.close()
  }
}

function remote(terminal: Terminal, url: string): Management {
  const { token } = terminal.options()
  if (token === '') throw new UsageError('--url needs an access token: set QUOIN_TOKEN to one.')
  return remoteManagement(url, token)
}
