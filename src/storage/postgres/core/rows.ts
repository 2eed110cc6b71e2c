/** What answers statements, and what it answers. */

export type Row = Readonly<Record<string, unknown>>

/** All errors are as `storageError` makes them. */
export interface PostgresConnection {
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Gives how many rows were changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>
}

export function numberOf(row: Row, name: string): number {
  const value = row[name]
  if (typeof value === 'number') return value
  if (typeof value === 'string' && value !== '' && Number.isFinite(Number(value))) return Number(value)
  throw new TypeError(`The column ${name} is no number.`)
}

export function textOf(row: Row, name: string): string {
  const value = row[name]
  if (typeof value === 'string') return value
  throw new TypeError(`The column ${name} is no text.`)
}
