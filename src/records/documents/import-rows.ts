/** A file of documents as rows, whatever its format: each can be read alone, so that a bad one does not hide the others. */
import { createReadStream } from 'node:fs'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { NamedReference } from './named-references.ts'
import { linesOf, parseLine } from './ndjson-lines.ts'

export interface ImportRow {
  /** The line that it begins in, from 1. */
  readonly line: number
  /** In memory, in bytes. */
  readonly size: number
  /** Throws INVALID_BODY, naming the line, for what is no document. */
  read(): JsonObject
  /** Of a table, as they stand in the file. */
  readonly cells?: readonly (string | number | boolean)[]
  /** Fields whose values are names of other documents. */
  readonly named?: readonly NamedReference[]
}

/** `path`: of a file. Holds one row at a time. */
export type RowsOf = (path: string) => AsyncIterable<ImportRow>

/** One JSON object a line. */
export async function* ndjsonRows(path: string): AsyncGenerator<ImportRow, void> {
  for await (const line of linesOf(createReadStream(path)))
    yield { line: line.number, size: line.bytes.length, read: () => parseLine(line) }
}

export interface LineProblem {
  readonly line: number
  /** Dotted names of fields; none if it is not about a field. */
  readonly fields: readonly string[]
  readonly message: string
}

/** What is wrong with a row, without the number of its line and what follows for the import. */
export function lineProblem(line: number, error: unknown): LineProblem {
  const cause = error instanceof QuoinError && error.cause instanceof QuoinError ? error.cause : error
  if (!(cause instanceof QuoinError)) throw error
  return { line, fields: cause.fields ?? [], message: cause.message }
}
