/**
 * How a storage lies in SQLite. Names are made from the catalogue's number, never from what a builder typed.
 *
 * doc_N: one row a document. `created` and `updated` are milliseconds, `removed` Unix seconds (0 = present), `doc` the
 * whole text with `_meta`. A rowid table: joining 20 rows to one text in SQLite is a third faster than on one WITHOUT
 * ROWID.
 *
 * text_N: free-text index, only where a search asks for it; its rowid is the document's. It holds what
 * `text-tokens.ts` made, joined by spaces; SQLite's own tokenizer only cuts at the spaces, so both engines find by the
 * same tokens. Contentless: the text itself is in `doc` already.
 */
export function documentTable(id: number): string {
  return `doc_${id}`
}

export function textTable(id: number): string {
  return `text_${id}`
}

export function documentTableSql(id: number): string {
  const table = documentTable(id)
  return `
    CREATE TABLE ${table} (
      id INTEGER PRIMARY KEY,
      guid TEXT NOT NULL UNIQUE,
      created INTEGER NOT NULL,
      updated INTEGER NOT NULL,
      removed INTEGER NOT NULL,
      version INTEGER NOT NULL,
      doc TEXT NOT NULL
    ) STRICT;
    CREATE INDEX ${table}_created ON ${table} (created, guid) WHERE removed = 0;`
}

/** The words of a free-text index; not stored, only another way to read it. */
export function vocabularyTable(textName: string): string {
  return `${textName}_words`
}

/** Where each word stands; not stored either. */
export function placesTable(textName: string): string {
  return `${textName}_places`
}

export function textTableSql(id: number): string {
  const table = textTable(id)
  return `
    CREATE VIRTUAL TABLE ${table} USING fts5 (
      text, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3');
    ${vocabularyTableSql(id)}`
}

export function vocabularyTableSql(id: number): string {
  const table = textTable(id)
  return `
    CREATE VIRTUAL TABLE IF NOT EXISTS ${vocabularyTable(table)} USING fts5vocab (${table}, row);
    CREATE VIRTUAL TABLE IF NOT EXISTS ${placesTable(table)} USING fts5vocab (${table}, instance);`
}

export function dropTextSql(id: number): string {
  const table = textTable(id)
  const read = [vocabularyTable(table), placesTable(table)]
  return [...read, table].map((one) => `DROP TABLE IF EXISTS ${one};`).join(' ')
}
