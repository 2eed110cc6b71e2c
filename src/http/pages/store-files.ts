import type { Assets } from '../../records/assets/assets.ts'
import { PAGE_UPLOADS } from '../../records/assets/page-uploads.ts'
import type { Actor } from '../../records/records.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import type { ReadForm } from './read-form.ts'

const LONGEST_NAME = 200

export interface StoredFiles {
  readonly values: JsonObject
  /** Guids of the assets, to take them back when the flow fails. */
  readonly assets: readonly string[]
}

/** Makes assets of a form's files. A value is `{ guid, name, type, size }`, or a list where several may be chosen. */
export async function storeFiles(
  assets: Assets,
  { values, files }: ReadForm,
  by: Actor,
): Promise<StoredFiles> {
  const all: Record<string, JsonValue> = { ...values }
  const made: string[] = []
  try {
    for (const { file, multiple } of files) {
      const place = { name: safeName(file.name), directory: PAGE_UPLOADS, type: file.type }
      const record = await assets.create(file.file, place, by)
      const guid = guidOf(record)
      made.push(guid)
      const value = {
        guid,
        name: textIn(record.name),
        type: textIn(record.type),
        size: numberIn(record.size),
      }
      const before = all[file.field]
      all[file.field] = multiple ? [...(Array.isArray(before) ? before : []), value] : value
    }
    return { values: all, assets: made }
  } catch (error) {
    await removeFiles(assets, made, by)
    const [first] = files
    if (error instanceof QuoinError && error.code === 'INVALID_BODY' && first)
      throw invalidField(first.file.field, error.message)
    throw error
  }
}

export async function removeFiles(assets: Assets, guids: readonly string[], by: Actor): Promise<void> {
  for (const guid of guids) await assets.remove(guid, by)
}

/** Some browsers send a whole path, and names may hold anything. */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  const plain = last
    .replace(/[\p{Cc}<>:"|?*]/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  const short = plain.length > LONGEST_NAME ? plain.slice(-LONGEST_NAME) : plain
  return short === '' ? 'file' : short
}
