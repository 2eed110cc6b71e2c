import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import { type Management, Refused } from '../management.ts'
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
    const body = await signIn(server, { username, password }, terminal)
    const { access_token: token } = isJsonObject(body) ? body : {}
    if (typeof token !== 'string') throw new Refused('The server is not Quoin: it sent no access token.', 200)
    await writeSignIns(path, { ...former, [address]: { username, token } })
  } finally {
    await server.close()
  }
  terminal.print(`Signed in to ${address} as ${username}. Use it with: --url ${address}`)
  return 0
}

/** Asks for a code where the account has a second factor. One that has to be set up first is set up on a page. */
async function signIn(
  server: Management,
  { username, password }: { readonly username: string; readonly password: string },
  terminal: Terminal,
): Promise<JsonValue> {
  try {
    return await server.call('POST', '/auth/signin', { username, password })
  } catch (error) {
    if (!(error instanceof Refused) || typeof error.details.challenge !== 'string') throw error
    const { challenge, setup } = error.details
    if (setup !== undefined)
      throw new Error('The account needs a second factor. Sign in at /login in a browser to set it up.')
    const code = await terminal.readSecret('Code of your authenticator app, or a recovery code: ')
    return server.call('POST', '/auth/second-factor', { challenge, code })
  }
}
