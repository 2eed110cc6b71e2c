/** A file of documents as rows, whatever its format: each can be read alone, so that a bad one does not hide the others. */
import { createReadStream } from 'node:fs'
import { runCooperatively } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { NamedReference } from './named-references.ts'
import { type Line, lineInSteps, linesOf, parseLine } from './ndjson-lines.ts'
import type { ReadRow, Reasons } from './read-row.ts'

export type Cell = string | number | boolean

export interface ImportRow {
  /** The line that it begins in, from 1. */
  readonly line: number
  /** In memory, in bytes. */
  readonly size: number
  /** Throws INVALID_BODY, naming the line, for what is no document. */
  read(): ReadRow
  /** Of a table, as they stand in the file; of NDJSON the line, as one cell. */
  readonly cells?: () => readonly Cell[]
  /** Of a table: its columns, and where they go. */
  readonly columns?: readonly FileColumn[]
  /** Fields whose values are names of other documents. */
  readonly named?: readonly NamedReference[]
  /** Of the storage. */
  readonly rules?: readonly FieldRule[]
}

export interface FileColumn {
  readonly column: string
  readonly field: string | null
}

/** `path`: of a file. Holds one row at a time. */
export type RowsOf = (path: string) => AsyncIterable<ImportRow>

/** Bytes of a line that is parsed before it is handed on, in turns: 2 ms of parsing. */
const LONG = 256 * 1024

/** One JSON object a line. */
export async function* ndjsonRows(path: string, isBeginning?: boolean): AsyncGenerator<ImportRow, void> {
  for await (const line of linesOf(createReadStream(path), isBeginning)) {
    const document = line.bytes.length > LONG ? await parsedInTurns(line) : () => parseLine(line)
    yield {
      line: line.number,
      size: line.bytes.length,
      read: () => ({ document: document(), reasons: {} }),
      cells: () => [line.bytes.toString('utf8')],
    }
  }
}

/** What is wrong with the line is thrown where it is read. */
async function parsedInTurns(line: Line): Promise<() => JsonObject> {
  try {
    const document = await runCooperatively(lineInSteps(line))
    return () => document
  } catch (error) {
    return () => {
      throw error
    }
  }
}

export interface LineProblem {
  readonly line: number
  /** Dotted names of fields; none if it is not about a field. */
  readonly fields: readonly string[]
  readonly message: string
  /** What is wrong with each of the fields, and the cells of the line, where that was asked for. */
  readonly reasons?: Reasons
  readonly cells?: readonly Cell[]
}

/** What is wrong with a row, without the number of its line and what follows for the import. */
export function lineProblem(line: number, error: unknown): LineProblem {
  const { fields = [], message } = causeOf(error)
  return { line, fields, message }
}

/** Without the number of the line before its words. Throws what is no error of a document. */
export function causeOf(error: unknown): QuoinError {
  const cause = error instanceof QuoinError && error.cause instanceof QuoinError ? error.cause : error
  if (!(cause instanceof QuoinError)) throw error
  return cause
}
