/**
 * A document's text: `{"_meta":{…},…}`. `_meta` is always the first key and flat, and no value in it holds a brace, so it
 * can be cut off and put on without parsing the rest. Soft deletes and expiry then never touch what the builder stored.
 */
import { hasManyFields, MANY_FIELDS, MOST_FIELDS } from '../shared/document-fields.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Meta } from '../shared/meta.ts'
import { isOwnStorage } from './system-storages.ts'

/** A larger document would make every list that it is in slow, and every change of it a write of that size. */
const MAX_MIB = 16
const MAX_BYTES = MAX_MIB * 1024 * 1024

const OPEN = '{"_meta":'

export interface DocumentParts {
  readonly meta: Meta
  /** JSON object without `_meta`. */
  readonly body: string
}

export function splitDocument(text: string): DocumentParts {
  const end = text.indexOf('}') + 1
  if (!text.startsWith(OPEN) || end === 0) throw new TypeError('A stored document does not start with _meta.')
  // The text is our own: joinDocument wrote it.
  const meta = JSON.parse(text.slice(OPEN.length, end)) as Meta
  const rest = text.slice(end)
  return { meta, body: rest === '}' ? '{}' : `{${rest.slice(1)}` }
}

export function joinDocument(meta: Meta, body: string): string {
  return `${OPEN}${JSON.stringify(meta)}${body === '{}' ? '' : ','}${body.slice(1)}`
}

/** Fields that what is set in a document of a storage may have. Storages of Quoin hold runs and deployments, of any width. */
export function mostFields(storage: string): number {
  return isOwnStorage(storage) ? Number.POSITIVE_INFINITY : MOST_FIELDS
}

/** The text of what mutations made. Throws INVALID_BODY if that is too large. */
export function bodyText(body: JsonObject, storage: string): string {
  const text = JSON.stringify(body)
  if (!isOwnStorage(storage) && hasManyFields(text))
    throw new QuoinError('INVALID_BODY', `The document ${MANY_FIELDS}.`)
  if (text.length > MAX_BYTES / 3 && Buffer.byteLength(text) > MAX_BYTES)
    throw new QuoinError(
      'INVALID_BODY',
      `The document is larger than ${MAX_MIB} MiB. Store large content as an asset.`,
    )
  return text
}

export function parseBody(text: string): JsonObject {
  // As in splitDocument: an object, because an object was written.
  return JSON.parse(text) as JsonObject
}
