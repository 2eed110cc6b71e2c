/** A way to write a document of the storage `goods`, as the table of wrong writes tries it. */
import type { JsonObject } from '../../../src/shared/json.ts'

export const creating = [
  'documents API, create',
  'resource, create',
  'block, create',
  'block, upsert of a new one',
  'block, store rows',
  'form of a page, create',
  'import, NDJSON',
  'import, CSV',
  'import, XLSX',
  'quoin rows import',
  'job of a function',
] as const
export const changing = [
  'documents API, change',
  'resource, change',
  'block, change',
  'block, upsert of one',
  'form of a page, change',
  'update-many',
  'update-many in a job',
  'block, update many',
  'block, update many in a job',
  'put-back',
] as const
export const restoring = [
  'restore',
  'restore-many',
  'restore-many in a job',
  'block, restore many',
  'put-back of a removed one',
] as const
export type WriteDoor = (typeof creating)[number] | (typeof changing)[number] | (typeof restoring)[number]

export interface Refusal {
  /** Undefined where the reply came before the write, or there is none. */
  readonly status?: number
  /** Where the reply lists them. */
  readonly fields?: readonly string[]
  /** What the client, the record of the job or the command says. */
  readonly text: string
}

/** Writes these fields, or restores a removed document that has them. */
export type Write = (fields: JsonObject) => Promise<Refusal>
