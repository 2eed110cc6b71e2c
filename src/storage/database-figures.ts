/** What a database says of itself, for people and for collectors. null: this engine does not tell. */
export interface DatabaseFigures {
  /** Of all data, without the log. */
  readonly sizeBytes: number
  /** Of the write-ahead log as it lies on disk. */
  readonly logBytes: number | null
  /** Transactions that were committed: SQLite since this process started, PostgreSQL since its statistics began, by anyone. */
  readonly commits: number
  /** Connections of this node; null where there is no pool. */
  readonly connections: DatabaseConnections | null
  /** Reads without the disk: SQLite whole results of searches, of this process; PostgreSQL pages of its buffers. */
  readonly cache: { readonly hits: number; readonly misses: number }
}

export interface DatabaseConnections {
  readonly busy: number
  readonly idle: number
  /** Work that waits for one. */
  readonly waiting: number
  readonly most: number
}
