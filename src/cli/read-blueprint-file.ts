import { readFile, stat } from 'node:fs/promises'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { longNumberIn, longNumberProblem, readJson } from '../shared/numbers/exact-json.ts'
import { UsageError } from './read-words.ts'

/** Far more than 10,000 blocks take. */
const MAX_BYTES = 64 * 1024 * 1024

/** The JSON of a blueprint file. Throws an Error that names the file. */
export async function readBlueprintFile(path: string): Promise<unknown> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`There is no file ${path}.`) : error
  })
  if (size > MAX_BYTES)
    throw new Error(`${path} is larger than ${MAX_BYTES} bytes; it is not a blueprint file.`)
  let text: string
  let value: unknown
  try {
    text = await readFile(path, 'utf8')
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const long = longNumberIn(text)
  if (long) throw new Error(`${path} ${longNumberProblem(long)}.`)
  return value
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** A flag that is a JSON object; empty without it. Throws UsageError. */
export function readObject(flag: string, text: string | undefined): JsonObject {
  if (text === undefined) return {}
  const read = readJson(text)
  if ('problem' in read) throw new UsageError(`--${flag} ${read.problem}: ${text}.`)
  if (isJsonObject(read.value)) return read.value
  throw new UsageError(`--${flag} must be a JSON object; got ${text}.`)
}
