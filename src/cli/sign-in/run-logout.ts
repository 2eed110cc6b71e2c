import type { Terminal } from '../command.ts'
import { Refused } from '../management.ts'
import { UsageError } from '../read-words.ts'
import { remoteManagement } from '../remote-management.ts'
import { serverAddress } from '../server-address.ts'
import { readSignIns, type SignIns, signInPath, writeSignIns } from './sign-in-file.ts'

export async function runLogout(typed: string | undefined, terminal: Terminal): Promise<number> {
  const path = signInPath(terminal.options().configHome)
  const signIns = await readSignIns(path)
  const address = typed === undefined ? onlyOne(signIns) : serverAddress(typed)
  const { [address]: ended, ...others } = signIns
  if (!ended) throw new Error(`There is no sign-in to ${address}.`)
  const server = remoteManagement(address, ended.token)
  try {
    await server.call('POST', '/auth/signout')
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // A token that the server refuses has ended already; of a server that is away the token ends by itself.
    if (error.status !== 401)
      terminal.complain(
        `${error.message} The token is deleted here; on the server it is valid until it expires.`,
      )
  } finally {
    await server.close()
    await writeSignIns(path, others)
  }
  terminal.print(`Signed out of ${address}.`)
  return 0
}

function onlyOne(signIns: SignIns): string {
  const [address, ...others] = Object.keys(signIns)
  if (address === undefined) throw new Error('There is no sign-in.')
  if (others.length > 0)
    throw new UsageError(`There are several sign-ins: ${[address, ...others].join(', ')}. Name one.`)
  return address
}
