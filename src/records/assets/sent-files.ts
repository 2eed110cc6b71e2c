/** Files that clients send with forms and requests, as they become assets. */
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { Actor } from '../records.ts'
import type { Assets } from './assets.ts'

const LONGEST_NAME = 200

export async function removeFiles(
  assets: Pick<Assets, 'remove'>,
  guids: readonly string[],
  by: Actor,
): Promise<void> {
  for (const guid of guids) await assets.remove(guid, by)
}

/** Some browsers send a whole path, and names may hold anything. */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  const plain = last
    .replace(/[\p{Cc}<>:"|?*]/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  const short = plain.length > LONGEST_NAME ? plain.slice(-LONGEST_NAME) : plain
  return short === '' ? 'file' : short
}

/** What is wrong with a file, said of the field that it was sent in. */
export function errorOfField(field: string, error: unknown): unknown {
  return error instanceof QuoinError && error.code === 'INVALID_BODY'
    ? invalidField(field, error.message)
    : error
}
