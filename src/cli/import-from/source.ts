/** What importers give: tables whose rows become documents, whatever program wrote them. */
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import type { FieldType } from '../../shared/fields/field-type.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { ImportedUser } from '../run-user-import.ts'

export interface SourceField {
  readonly name: string
  /** As the source calls it, where that differs. */
  readonly label?: string
  readonly type: FieldType
  readonly limits?: FieldLimits
  readonly required?: boolean
  /** A name: unique together with the other fields of that name. */
  readonly unique?: boolean | string
  /** The storage that it refers to. Rows hold the key of the row there. */
  readonly refersTo?: string
}

export interface RowProblem {
  readonly field: string
  readonly value: JsonValue
  /** Finishes "<field> …". */
  readonly problem: string
}

/** A file of a row, which becomes an asset. */
export interface RowFile {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Reads it piece by piece. */
  open(): Readable
}

export interface SourceRow {
  /** For people: `line 4`. */
  readonly place: string
  /** The same each time that the source is read: the guid of its document follows from it. */
  readonly key: string
  readonly values: Readonly<Record<string, JsonValue>>
  /** Of what cannot be read; the row is left out. */
  readonly problems: readonly RowProblem[]
  /** Of fields of the types file and files, whose values are the names of the files; without it there are no files to read. */
  readonly files?: Readonly<Record<string, readonly RowFile[]>>
  /** Files that are left out; their row is not. */
  readonly missing?: readonly RowProblem[]
}

export interface SourceTable {
  /** As the source calls it. */
  readonly title: string
  readonly storage: string
  /** In words: by which its rows are found again. */
  readonly key: string
  readonly fields: readonly SourceField[]
  /** The source itself sees to it that no two rows have one key. */
  readonly hasUniqueKey?: true
  /** Holds a bounded part of them. */
  rows(): AsyncIterable<SourceRow>
}

export interface Source {
  readonly tables: readonly SourceTable[]
  /** What cannot be said in Quoin, or was left out, one line each. */
  readonly unsaid: readonly string[]
  /** Who become users of Quoin, where that is asked for. */
  readonly users?: () => Iterable<ImportedUser>
  close(): Promise<void>
}

/** The fields of a storage of the cluster, where what was changed counts when a source is read again; none where it has no such storage. */
export type PresentFields = (storage: string) => Promise<readonly FieldRule[]>

/** Tables and columns of one source: more are a mistake, or an attack. */
export const MOST_TABLES = 500
export const MOST_COLUMNS = 500

// In which order tables are imported, so that what a row refers to is there before it.

export interface OrderedTable {
  readonly table: SourceTable
  /** Fields whose documents come later, or are of the same table: they are set when all documents are there. */
  readonly deferred: ReadonlySet<string>
}

/** Circles begin with the table that waits for the fewest others. */
export function importOrder(tables: readonly SourceTable[]): readonly OrderedTable[] {
  const ordered: OrderedTable[] = []
  const left = new Map(tables.map((table) => [table.storage, table]))
  while (left.size > 0) {
    let chosen: OrderedTable | undefined
    for (const table of left.values()) {
      const deferred = waitingFor(table, left)
      const others = [...deferred.values()].filter((storage) => storage !== table.storage)
      if (chosen && chosen.deferred.size <= others.length) continue
      chosen = { table, deferred: new Set(deferred.keys()) }
      if (others.length === 0) break
    }
    if (!chosen) break
    left.delete(chosen.table.storage)
    ordered.push(chosen)
  }
  return ordered
}

/** Fields and the storages that they refer to, of those that are not there yet. */
function waitingFor({ fields }: SourceTable, left: ReadonlyMap<string, SourceTable>): Map<string, string> {
  return new Map(
    fields.flatMap(({ name, refersTo }) =>
      refersTo !== undefined && left.has(refersTo) ? [[name, refersTo]] : [],
    ),
  )
}

/** Whether values of the field are files that were uploaded. */
export function isFileRule({ type }: Pick<FieldRule, 'type'>): boolean {
  return type === 'file' || type === 'files'
}

// The guid of the document of a row: it follows from storage and key, so that an import that runs again finds what it has made.

/**
 * In the form of a UUIDv7 of a time before 2005, behind which all guids of this cluster come; 114 bits are of the hash, so that no two
 * keys meet.
 */
export function guidOfRow(storage: string, key: string): string {
  const hash = createHash('sha256').update(`quoin row\n${storage}\n${key}`).digest('hex')
  const variant = '89ab'[Number.parseInt(hash.charAt(16), 16) % 4]
  return `00${hash.slice(0, 6)}-${hash.slice(6, 10)}-7${hash.slice(10, 13)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}
