/** Named clusters of this user's command line: a file beside the sign-ins, which it names by their address. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isJsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import type { Terminal } from '../command.ts'
import { UsageError } from '../read-words.ts'
import { signInPath } from '../sign-in/sign-in-file.ts'

const NAME = /^[a-z][a-z0-9_-]{0,62}$/

function pathOf(terminal: Terminal): string {
  return join(dirname(signInPath(terminal.options().configHome)), 'remotes.json')
}

/** Addresses by name. */
async function readRemotes(terminal: Terminal): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(pathOf(terminal), 'utf8').catch(() => '{}')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new Error(`${pathOf(terminal)} is damaged. Remove it, and add the clusters again: quoin remote add`)
  }
  const entries = isJsonObject(json) ? Object.entries(json) : []
  return Object.fromEntries(entries.flatMap(([name, url]) => (typeof url === 'string' ? [[name, url]] : [])))
}

/** `url` as `serverAddress` gives it. */
export async function addRemote(terminal: Terminal, name: string, url: string): Promise<void> {
  if (!NAME.test(name))
    throw new UsageError(
      'The name of a cluster must be lower-case letters, digits, _ and -, such as production.',
    )
  const remotes = { ...(await readRemotes(terminal)), [name]: url }
  const path = pathOf(terminal)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(`${path}.part`, `${JSON.stringify(remotes, undefined, 2)}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.part`, path)
}

/** What `--remote` or `--url` says; undefined for the data directory. */
export async function remoteAddress(
  terminal: Terminal,
  { url, remote }: { readonly url?: string | undefined; readonly remote?: string | undefined },
): Promise<string | undefined> {
  if (remote === undefined) return url
  if (url !== undefined) throw new UsageError('Use --remote or --url, not both.')
  const remotes = await readRemotes(terminal)
  const found = remotes[remote]
  if (found !== undefined) return found
  const nearest = nearestName(remote, Object.keys(remotes))
  const advice = nearest === undefined ? 'Add it: quoin remote add' : `Did you mean ${nearest}?`
  throw new UsageError(`There is no cluster ${JSON.stringify(remote)}. ${advice}`)
}
