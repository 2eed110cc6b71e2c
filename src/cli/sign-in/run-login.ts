import { isJsonObject } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import { Refused } from '../management.ts'
import { UsageError } from '../read-words.ts'
import { remoteManagement } from '../remote-management.ts'
import { serverAddress } from '../server-address.ts'
import { readSignIns, signInPath, writeSignIns } from './sign-in-file.ts'

export async function runLogin(typed: string, username: string, terminal: Terminal): Promise<number> {
  const address = serverAddress(typed)
  const path = signInPath(terminal.options().configHome)
  // Before the password is asked for: a file that cannot be used is found first.
  const former = await readSignIns(path)
  const password = await terminal.readSecret(`Password of ${username} at ${address}: `)
  if (password === '') throw new UsageError('There is no password on the standard input.')
  const server = remoteManagement(address)
  try {
    const body = await server.call('POST', '/auth/signin', { username, password })
    const { access_token: token } = isJsonObject(body) ? body : {}
    if (typeof token !== 'string') throw new Refused('The server is not Quoin: it sent no access token.', 200)
    await writeSignIns(path, { ...former, [address]: { username, token } })
  } finally {
    await server.close()
  }
  terminal.print(`Signed in to ${address} as ${username}. Use it with: --url ${address}`)
  return 0
}
