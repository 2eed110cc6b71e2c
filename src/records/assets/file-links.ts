/**
 * Addresses of assets that hold for a time. The signature covers the asset, the end of the time and whether the file is saved,
 * so none of them can be changed, and no part of an address is worth guessing: 256 bits.
 */
import type { RunFiles } from '../../blocks/block-services.ts'
import type { Clock } from '../../shared/clock.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { contentDisposition } from '../../shared/files/file-types.ts'
import { isGuid } from '../../shared/guid.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import type { Actor } from '../records.ts'
import type { SigningSecret } from '../secrets/signing-secret.ts'
import { type Assets, checkAssetPlace } from './assets.ts'

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
function linkPath(secret: SigningSecret, { guid, expires, saved }: LinkedFile): string {
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

/** Those that are there: a flow may have deleted some itself. */
export async function removeFiles(
  assets: Pick<Assets, 'remove'>,
  guids: readonly string[],
  by: Actor,
): Promise<void> {
  for (const guid of guids)
    await assets.remove(guid, by).catch((error: unknown) => {
      if (!(error instanceof QuoinError) || error.code !== 'NOT_FOUND') throw error
    })
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

/** Assets as blocks see them. */
export function runFiles(assets: Assets, secret: SigningSecret, clock: Clock): RunFiles {
  return {
    async save({ content, ...input }, by) {
      checkAssetPlace(input)
      const file = await assets.files.receive(bounded(content, assets.limit))
      return assets.create(file, input, by)
    },
    read: (record, range) => assets.read(record, range),
    async link(record, { seconds, saved, direct }) {
      const [name, type] = [textIn(record.name), textIn(record.type)]
      const disposition = contentDisposition({ name, type }, saved)
      const address = direct ? await assets.presigned(record, { seconds, type, disposition }) : undefined
      const expires = Math.floor(clock() / 1000) + seconds
      return address ?? linkPath(secret, { guid: guidOf(record), expires, saved })
    },
    image: (record, requested) => assets.convert(record, requested),
    remove: (guid, by) => assets.remove(guid, by),
  }
}

async function* bounded(content: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.length
    if (bytes > most) throw new QuoinError('FILE_TOO_BIG', `The file has more than ${most} bytes.`)
    yield chunk
  }
}
