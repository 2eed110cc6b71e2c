/** What a form of a page sent: text by name, and files. */
import type { FastifyRequest } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { AssetFiles, ReceivedFile } from '../../storage/assets/asset-files.ts'

export interface PostedFile {
  readonly field: string
  readonly name: string
  /** What the browser says it is. */
  readonly type: string
  readonly file: ReceivedFile
}

export interface Posted {
  /** All values of a name, in order. */
  all(name: string): readonly string[]
  first(name: string): string | undefined
  names(): readonly string[]
  readonly files: readonly PostedFile[]
}

/** Names that the page itself sends with its forms. */
export const sentNames = {
  token: '_csrf',
  once: '_once',
  ticket: '_ticket',
  proof: '_proof',
  form: '_form',
  button: '_button',
  table: '_table',
  row: '_row',
  rows: '_rows',
  bulk: '_bulk',
} as const

const MAX_FIELDS = 2_000
/** Of a form whose sender may send it. */
export const FORM_BOUNDS = { fields: MAX_FIELDS, fieldSize: 1024 * 1024, characters: 16 * 1024 * 1024 }
const MAX_FILES = 20

/** A form without files; its body has been read. */
export function postedFields(body: unknown): Posted {
  const values = new Map<string, string[]>()
  if (isJsonObject(body))
    for (const [name, value] of Object.entries(body))
      values.set(
        name,
        [value].flat().filter((one): one is string => typeof one === 'string'),
      )
  return postedOf(values, [])
}

/**
 * A form with files, which go straight to the store's waiting room. `mayStore` is asked once, with the fields before the
 * first file: otherwise nothing of any file is kept. Throws FILE_TOO_BIG and INVALID_BODY; then nothing is left.
 */
export async function receivePosted(
  request: FastifyRequest,
  files: AssetFiles,
  limit: number,
  mayStore: (posted: Posted) => boolean,
  bounds: FieldBounds,
): Promise<Posted> {
  const values = new Map<string, string[]>()
  const received: PostedFile[] = []
  let mayKeep: boolean | undefined
  let characters = 0
  try {
    for await (const part of request.parts(partLimits(limit, bounds))) {
      if (part.type === 'field') {
        if (typeof part.value !== 'string' || part.valueTruncated || part.fieldnameTruncated)
          throw new QuoinError('INVALID_BODY', 'The form contains a field that is too long.')
        if (!part.value.isWellFormed() || part.value.includes('\u0000'))
          throw new QuoinError('INVALID_BODY', 'The form contains text that cannot be stored.')
        characters += part.value.length
        if (characters > bounds.characters)
          throw new QuoinError('INVALID_BODY', 'The form contains too much text.')
        values.set(part.fieldname, [...(values.get(part.fieldname) ?? []), part.value])
        continue
      }
      // What a browser sends for a file input in which nothing was chosen.
      if (!part.filename) {
        part.file.resume()
        continue
      }
      mayKeep ??= mayStore(postedOf(values, []))
      if (!mayKeep) {
        part.file.resume()
        continue
      }
      const file = await files.receive(part.file)
      received.push({ field: part.fieldname, name: part.filename, type: part.mimetype, file })
      if (part.file.truncated)
        throw new QuoinError('FILE_TOO_BIG', `The file is larger than ${limit} bytes. Nothing was stored.`)
    }
    return postedOf(values, received)
  } catch (error) {
    for (const { file } of received) await files.discard(file)
    request.raw.unpipe()
    request.raw.resume()
    if (error instanceof QuoinError) throw error
    throw new QuoinError('INVALID_BODY', 'The form is cut off or not valid multipart/form-data.', {
      cause: error,
    })
  }
}

/** How much text a form may hold: fields, bytes of each, and characters in all. */
interface FieldBounds {
  readonly characters: number
  readonly fields: number
  readonly fieldSize: number
}

function partLimits(fileSize: number, { fields, fieldSize }: FieldBounds) {
  return {
    throwFileSizeLimit: false,
    limits: {
      fileSize,
      files: MAX_FILES,
      fields,
      parts: fields + MAX_FILES,
      fieldNameSize: 300,
      fieldSize,
      headerPairs: 20,
    },
  }
}

function postedOf(values: ReadonlyMap<string, readonly string[]>, files: readonly PostedFile[]): Posted {
  return {
    all: (name) => values.get(name) ?? [],
    first: (name) => values.get(name)?.[0],
    names: () => [...values.keys()],
    files,
  }
}
