import { isJsonObject } from '../shared/json.ts'
import type { Terminal } from './command.ts'
import { type Management, Refused } from './management.ts'
import { UsageError } from './read-words.ts'
import { readSignIns, signInPath } from './sign-in/sign-in-file.ts'

/** The flag of every command that works over HTTP as well. */
export const urlFlag = {
  url: {
    type: 'string',
    value: '<address>',
    help: `Work on a running server, for example http://127.0.0.1:8080, after quoin login or
with an access token in QUOIN_TOKEN. Without --url the command opens the data
directory (QUOIN_DATA) itself, which works only while no server uses it, or the
PostgreSQL of DATABASE_URL, which works beside its nodes.`,
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
  const { token, configHome } = terminal.options()
  const address = serverAddress(url)
  const { remoteManagement } = await import('./remote-management.ts')
  if (token !== '') return remoteManagement(address, token)
  const { readSignIns, signInPath } = await import('./sign-in/sign-in-file.ts')
  const { [address]: signIn } = await readSignIns(signInPath(configHome))
  if (!signIn)
    throw new UsageError(`There is no sign-in to ${address}: run quoin login ${address} <username>.`)
  const server = remoteManagement(address, signIn.token)
  const reported = (error: unknown): never => {
    throw error instanceof Refused && error.status === 401 ? expired(address, signIn.username) : error
  }
  return {
    ...server,
    async call(method, path, body) {
      try {
        return await server.call(method, path, body)
      } catch (error) {
        if (!(error instanceof Refused) || error.code !== 'CONFIRMATION_REQUIRED') return reported(error)
        await confirm(terminal, server, { username: signIn.username, address })
        return server.call(method, path, body).catch(reported)
      }
    },
    upload: (path, file) => server.upload(path, file).catch(reported),
    download: (path) => server.download(path).catch(reported),
  }
}

/** Asks for the password, and for a code where the user has a second factor. Who has neither signs in again with the browser. */
async function confirm(
  terminal: Terminal,
  server: Management,
  { username, address }: { readonly username: string; readonly address: string },
): Promise<void> {
  const factor = await server.call('GET', '/users/me/second-factor')
  const { totp, passkeys, password: hasPassword } = isJsonObject(factor) ? factor : {}
  const needsCode = totp === true
  if (hasPassword === false || (!needsCode && Number(passkeys) > 0))
    throw new Refused(
      `This needs a sign-in of the last five minutes. Run: quoin login ${address}, sign in with the browser, and try again`,
      403,
    )
  const password = await terminal.readSecret(`This needs the password of ${username} again: `)
  const code = needsCode && (await terminal.readSecret('Code of your authenticator app: '))
  await server.call('POST', '/auth/confirm', { password, ...(code !== false && { code }) })
}

function expired(address: string, username: string): Refused {
  return new Refused(
    `The sign-in to ${address} has expired or was ended. Run: quoin login ${address} ${username}`,
    401,
  )
}

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

/** The address of a server as typed, with or without /api/v1, as all spellings of it are kept. Throws UsageError. */
export function serverAddress(typed: string): string {
  if (!URL.canParse(typed) || !/^https?:\/\//i.test(typed))
    throw new UsageError(`${JSON.stringify(typed)} is not an address such as http://127.0.0.1:8080.`)
  const { origin, pathname, username, password } = new URL(typed)
  if (username !== '' || password !== '')
    throw new UsageError(
      'The address must not contain a password: other users of this machine can read a command line.',
    )
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, '').replace(/\/api\/v1$/, '')}`
}
