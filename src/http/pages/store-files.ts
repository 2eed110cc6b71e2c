import type { Assets } from '../../records/assets/assets.ts'
import { PAGE_UPLOADS } from '../../records/assets/page-uploads.ts'
import { errorOfField, removeFiles, safeName } from '../../records/assets/sent-files.ts'
import type { Actor } from '../../records/records.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import type { ReadForm } from './read-form.ts'

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
      const place = {
        name: safeName(file.name),
        directory: PAGE_UPLOADS,
        type: file.type,
        held: true,
      } as const
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
    throw first ? errorOfField(first.file.field, error) : error
  }
}
