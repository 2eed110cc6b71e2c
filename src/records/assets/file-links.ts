/**
 * Addresses of assets that hold for a time. The signature covers the asset, the end of the time and whether the file is saved,
 * so none of them can be changed, and no part of an address is worth guessing: 256 bits.
 */

import { invalidField, QuoinError } from '../../shared/errors.ts'
import { isGuid } from '../../shared/guid.ts'
import type { Actor } from '../records.ts'
import type { SigningSecret } from '../secrets/signing-secret.ts'
import type { Assets } from './assets.ts'

const PURPOSE = 'file link'

/** What the query of such an address says; all of it comes from the client. */
export interface LinkQuery {
  /** Unix seconds. */
  readonly expires?: string
  readonly save?: string
  readonly signature?: string
}

interface LinkedFile {
  readonly guid: string
  /** Unix seconds. */
  readonly expires: number
  readonly saved: boolean
}

/** The path of the address, from `/api/v1` on. */
export function linkPath(secret: SigningSecret, { guid, expires, saved }: LinkedFile): string {
  const [until, save] = [String(expires), saved ? '1' : '0']
  const signature = secret.sign(PURPOSE, signed(guid, until, save))
  return `/api/v1/_system/assets/${guid}/linked?expires=${until}&save=${save}&signature=${signature}`
}

/** What the address allows at this time (Unix seconds); undefined for one that is not ours, changed, or expired. */
export function readLink(
  secret: SigningSecret,
  guid: string,
  { expires = '', save = '', signature = '' }: LinkQuery,
  now: number,
): LinkedFile | undefined {
  if (!isGuid(guid) || !secret.verify(PURPOSE, signed(guid, expires, save), signature)) return undefined
  if (Number(expires) <= now) return undefined
  return { guid, expires: Number(expires), saved: save === '1' }
}

function signed(guid: string, expires: string, save: string): string {
  return JSON.stringify([guid, expires, save])
}

// Files that clients send with forms and requests, as they become assets.

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
