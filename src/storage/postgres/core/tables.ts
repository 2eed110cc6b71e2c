/**
 * How a storage lies in PostgreSQL. Names are made from the catalogue's number, never from what a builder typed.
 *
 * doc_N: one row a document. `created` and `updated` are milliseconds, `removed` Unix seconds (0 = present). `doc` is the
 * whole text with `_meta`: json and not jsonb, which would not give it back as it was. `tokens` and `token_count`: free
 * text (postgres-text-index.ts), NULL in a storage without free text. Key columns: key-columns.ts. Pages keep room for the next version of
 * a document, which then needs no entry in any index (HOT) where no indexed value has changed.
 */
export function documentTable(id: number): string {
  return `doc_${id}`
}

export function documentTableSql(id: number): string {
  const table = documentTable(id)
  return `
    CREATE TABLE ${table} (
      guid text COLLATE "C" PRIMARY KEY,
      created bigint NOT NULL,
      updated bigint NOT NULL,
      removed bigint NOT NULL,
      version bigint NOT NULL,
      doc json NOT NULL,
      tokens tsvector,
      token_count integer
    ) WITH (fillfactor = 85);
    CREATE INDEX ${table}_created ON ${table} (created, guid) WHERE removed = 0`
}
