/**
 * The sign-ins of this user's command line: a file with one access token for each server, never a password. Only its owner
 * may read it; a file that others can read is refused, as ssh refuses such a key.
 */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const fileSchema = Type.Object({
  format: Type.Literal('quoin-sign-ins-1'),
  servers: Type.Record(Type.String(), Type.Object({ username: Type.String(), token: Type.String() })),
})

export interface SignIn {
  readonly username: string
  readonly token: string
}

/** By the address of the server, without a path behind it. */
export type SignIns = Readonly<Record<string, SignIn>>

/** `configHome`: the setting XDG_CONFIG_HOME; empty for `.config` in the home directory. */
export function signInPath(configHome: string): string {
  return join(configHome === '' ? join(homedir(), '.config') : configHome, 'quoin', 'sign-ins.json')
}

/** Empty if there is no file. Throws an Error that names the file if others can read it, or if it is damaged. */
export async function readSignIns(path: string): Promise<SignIns> {
  const facts = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!facts) return {}
  // On Windows there is no owner, and the mode says nothing.
  const owner = process.getuid?.()
  if (owner !== undefined && facts.uid !== owner)
    throw new Error(`${path} belongs to another user. Remove it and run quoin login.`)
  if (owner !== undefined && (facts.mode & 0o077) !== 0)
    throw new Error(`${path} contains access tokens and other users can read it. Run: chmod 600 ${path}`)
  const json = parsed(await readFile(path, 'utf8'))
  if (!Value.Check(fileSchema, json)) throw new Error(`${path} is damaged. Remove it and run quoin login.`)
  return json.servers
}

/** Complete or not at all: a crash leaves the former file. Without sign-ins there is no file. */
export async function writeSignIns(path: string, servers: SignIns): Promise<void> {
  if (Object.keys(servers).length === 0) return rm(path, { force: true })
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.${process.pid}.part`
  const text = `${JSON.stringify({ format: 'quoin-sign-ins-1', servers }, undefined, 2)}\n`
  await writeFile(part, text, { mode: 0o600, flag: 'wx', flush: true })
  await rename(part, path)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
