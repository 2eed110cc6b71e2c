import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import { type Management, Refused } from '../management.ts'
import { serverAddress } from '../open-management.ts'
import { UsageError } from '../read-words.ts'
import { remoteManagement } from '../remote-management.ts'
import { readSignIns, type SignIns, signInPath, writeSignIns } from './sign-in-file.ts'

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

const WAIT_MS = 300_000

/** Signs in by a browser: the server sends it back to this process with a code, of which only this process has the verifier. */
export async function runBrowserLogin(typed: string, terminal: Terminal): Promise<number> {
  const address = serverAddress(typed)
  const path = signInPath(terminal.options().configHome)
  const former = await readSignIns(path)
  await requireServer(address)
  const bytes = new Uint8Array(32)
  terminal.random(bytes)
  const verifier = Buffer.from(bytes).toString('base64url')
  const challenge = hash('sha256', verifier, 'base64url')
  const server = remoteManagement(address)
  try {
    const body = await codeFromBrowser(
      (port) =>
        terminal.print(
          `Open this address in a browser: ${address}/_signin?port=${port}&challenge=${challenge}`,
        ),
      (code) => server.call('POST', '/auth/exchange', { code, verifier }),
    )
    const { access_token: token, username } = isJsonObject(body) ? body : {}
    if (typeof token !== 'string' || typeof username !== 'string')
      throw new Refused('The server is not Quoin: it sent no access token.', 200)
    await writeSignIns(path, { ...former, [address]: { username, token } })
    terminal.print(`Signed in to ${address} as ${username}. Use it with: --url ${address}`)
  } finally {
    await server.close()
  }
  return 0
}

/** A browser would be opened for nothing at an address where no Quoin answers. */
async function requireServer(address: string): Promise<void> {
  const server = remoteManagement(address)
  try {
    await server.call('GET', '/auth/providers')
  } finally {
    await server.close()
  }
}

/** Of browsers that wait for an exchange. */
const MOST_WAITING = 8

/**
 * Listens on this computer alone until a browser brings a code that `exchange` takes: each page that a browser here has open can send
 * another one. `listening` is called with the port.
 */
async function codeFromBrowser(
  listening: (port: number) => void,
  exchange: (code: string) => Promise<JsonValue>,
): Promise<JsonValue> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonValue>()
  let waiting = 0
  let last: Promise<void> = Promise.resolve()
  const take = async (code: string, answer: (status: number, text: string) => Promise<void>) => {
    try {
      const body = await exchange(code)
      await answer(200, 'You can close this window.')
      resolve(body)
    } catch (error) {
      const isRefused = error instanceof Refused && error.status < 500
      await answer(
        isRefused ? 400 : 502,
        isRefused ? 'The server does not know this code.' : 'Not signed in.',
      )
      if (!isRefused) reject(error)
    }
  }
  const server = createServer((request, response) => {
    // The process may end behind it, so it waits until the browser has it or has gone.
    const answer = (status: number, text: string) =>
      new Promise<void>((done) => {
        if (response.closed) return done()
        response.once('close', done).writeHead(status, {
          'content-type': 'text/plain; charset=utf-8',
          connection: 'close',
        })
        response.end(text)
      })
    const code = URL.parse(request.url ?? '/', 'http://127.0.0.1')?.searchParams.get('code') ?? ''
    if (!code.startsWith('qc_')) return void answer(404, 'Not found.')
    if (waiting >= MOST_WAITING) return void answer(503, 'Try again.')
    waiting += 1
    last = last.then(() => take(code, answer)).finally(() => (waiting -= 1))
  })
  server.once('error', reject)
  server.listen(0, '127.0.0.1', () => {
    const bound = server.address()
    if (typeof bound === 'object' && bound) listening(bound.port)
  })
  const timer = setTimeout(() => reject(new Error('No browser came back within five minutes.')), WAIT_MS)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    server.close()
  }
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
