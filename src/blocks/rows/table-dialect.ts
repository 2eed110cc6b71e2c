/** What was recognised of a table of another program, for people who look at a preview. */
export interface TableDialect {
  readonly format: 'csv' | 'xlsx'
  /** Of CSV. */
  readonly encoding?: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly separator?: string
  /** Of XLSX: the name of the sheet that is read, and of all that are not hidden. */
  readonly sheet?: string
  readonly sheets?: readonly string[]
  /** Of XLSX: the year from which days are counted. */
  readonly dates_from?: 1900 | 1904
}

/** Is told once, before the first row. */
export type FoundDialect = (dialect: TableDialect) => void
