/** A folder with a description of collections, and the records of each as JSON. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { readJson } from '../../../shared/numbers/exact-json.ts'
import { jsonItems } from './json-items.ts'

/** Kinds of JSON values that a field of a collection has: `object`, `array`, `other`. */
export type KindsOf = (collection: string, field: string) => ReadonlySet<string>

/** Of a file that is read whole. */
const MOST_BYTES = 16 * 1024 * 1024

export interface RecordFolder {
  /** Whether there is a file with its records. */
  has(title: string): boolean
  /** None where there is no file. */
  records(title: string): AsyncGenerator<JsonObject, void>
}

/** The file beside which records lie: one of these names in a folder, or the file itself. */
export async function schemaFile(path: string, names: readonly string[]): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new Error('is no file or folder')
  if (!found.isDirectory()) return path
  const present = await readdir(path)
  const name = names.find((one) => present.includes(one))
  if (name === undefined) throw new Error(`has none of ${names.join(', ')}`)
  return join(path, name)
}

/** JSON, or YAML by the name of the file. */
export async function readDocument(path: string): Promise<JsonValue> {
  if ((await stat(path)).size > MOST_BYTES) throw new Error(`${basename(path)} is longer than 16 MiB`)
  const text = await readFile(path, 'utf8')
  if (/\.ya?ml$/i.test(path)) return yamlOf(text, basename(path))
  const read = readJson(text.replace(/^\ufeff/, ''))
  if ('problem' in read) throw new Error(`cannot be read: ${basename(path)} ${read.problem}`)
  return read.value
}

/** Values as JSON has them: dates are texts, and aliases stand for at most so many values. */
async function yamlOf(text: string, name: string): Promise<JsonValue> {
  const { parse } = await import('yaml')
  try {
    const value: unknown = parse(text, {
      schema: 'core',
      maxAliasCount: 100,
      prettyErrors: false,
      logLevel: 'error',
    })
    return JSON.parse(JSON.stringify(value ?? null))
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new Error(`cannot be read: ${name} is not YAML: ${line.slice(0, 200)}`, { cause: error })
  }
}

/** `beside`: the schema file. */
export async function recordFolder(beside: string): Promise<RecordFolder> {
  const folder = dirname(beside)
  const names = new Set((await readdir(folder)).filter((name) => name !== basename(beside)))
  const has = (title: string) => names.has(`${title}.json`)
  return {
    has,
    async *records(title) {
      if (!has(title)) return
      const path = join(folder, `${title}.json`)
      try {
        for await (const { item } of jsonItems(path)) yield item
      } catch (error) {
        throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}.`, {
          cause: error,
        })
      }
    },
  }
}

/** Reads all records once. */
export async function kindsIn(titles: readonly string[], { records }: RecordFolder): Promise<KindsOf> {
  const kinds = new Map<string, Map<string, Set<string>>>()
  for (const title of titles) {
    const fields = new Map<string, Set<string>>()
    kinds.set(title, fields)
    for await (const record of records(title))
      for (const [field, value] of Object.entries(record)) {
        if (value === null) continue
        const found = fields.get(field) ?? new Set()
        found.add(Array.isArray(value) ? 'array' : isJsonObject(value) ? 'object' : 'other')
        fields.set(field, found)
      }
  }
  return (title, field) => kinds.get(title)?.get(field) ?? new Set()
}
