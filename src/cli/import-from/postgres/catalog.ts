/** The tables of a schema of PostgreSQL, as its catalog has them. */
import type { Client } from 'pg'
import { MOST_COLUMNS, MOST_TABLES } from '../source.ts'

export interface CatalogColumn {
  readonly name: string
  /** Of the base type where it is a domain: `int4`, `_text` for a list of texts. */
  readonly type: string
  /** As people write it: `numeric(10,2)`. */
  readonly written: string
  /** Of an enum, or of the items of a list. */
  readonly labels: readonly string[]
  /** Of `varchar(80)`: 80. */
  readonly length: number | undefined
  /** Of `numeric(10,2)`: 10 and 2. */
  readonly digits: { readonly precision: number; readonly scale: number } | undefined
  readonly isNotNull: boolean
  readonly isGenerated: boolean
  readonly countsUp: boolean
  readonly hasDefault: boolean
}

export interface CatalogKey {
  readonly name: string
  readonly columns: readonly string[]
  readonly isPrimary: boolean
}

export interface CatalogReference {
  readonly name: string
  readonly columns: readonly string[]
  /** `schema.table`. */
  readonly target: string
  readonly targetColumns: readonly string[]
}

export interface CatalogTable {
  /** `schema.table`. */
  readonly title: string
  readonly schema: string
  readonly name: string
  readonly columns: readonly CatalogColumn[]
  readonly keys: readonly CatalogKey[]
  readonly references: readonly CatalogReference[]
  /** Names of checks, triggers and policies. */
  readonly rules: readonly string[]
}

export interface Catalog {
  readonly tables: readonly CatalogTable[]
  /** Views and tables of other servers. */
  readonly others: readonly string[]
}

/** Each value comes as text, as the connection reads it. */
type Row = Readonly<Record<string, string | null>>

async function rowsOf(client: Client, sql: string, values: readonly string[]): Promise<readonly Row[]> {
  return (await client.query<Record<string, string | null>>(sql, [...values])).rows
}

export async function readCatalog(client: Client, schema: string): Promise<Catalog> {
  const relations = await rowsOf(client, relationsSql, [schema])
  const isTable = ({ kind }: Row) => kind === 'r' || kind === 'p'
  const names = relations.filter(isTable)
  if (names.length > MOST_TABLES)
    throw new Error(`The schema ${schema} has more than ${MOST_TABLES} tables. Import it in parts.`)
  const columns = grouped(await rowsOf(client, columnsSql, [schema, String(MOST_COLUMNS)]))
  const constraints = grouped(await rowsOf(client, constraintsSql, [schema]))
  const rules = grouped(await rowsOf(client, rulesSql, [schema]))
  const tables = names.map(({ name: text }): CatalogTable => {
    const name = text ?? ''
    const known = constraints.get(name) ?? []
    return {
      ...{ title: `${schema}.${name}`, schema, name },
      columns: (columns.get(name) ?? []).map(columnOf),
      keys: known.filter(({ kind }) => kind === 'p' || kind === 'u').map(keyOf),
      references: known.filter(({ kind }) => kind === 'f').map(referenceOf),
      rules: [
        ...known.filter(({ kind }) => kind === 'c' || kind === 'x').map((one) => `check ${one.constraint}`),
        ...(rules.get(name) ?? []).map(({ rule }) => rule ?? ''),
      ],
    }
  })
  return { tables, others: relations.filter((one) => !isTable(one)).map(({ name }) => `${schema}.${name}`) }
}

function grouped(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.table ?? '') ?? []
    group.push(row)
    groups.set(row.table ?? '', group)
  }
  return groups
}

function columnOf(row: Row): CatalogColumn {
  const type = row.type ?? ''
  const modifier = Number(row.modifier ?? -1)
  const hasLength = modifier >= 4 && (type === 'varchar' || type === 'bpchar')
  const hasDigits = modifier >= 4 && type === 'numeric'
  return {
    name: row.name ?? '',
    type,
    written: row.written ?? type,
    labels: textsIn(row.labels),
    length: hasLength ? modifier - 4 : undefined,
    // Precision and scale share a number; the scale has 11 bits and may be below zero.
    digits: hasDigits
      ? { precision: ((modifier - 4) >> 16) & 0xffff, scale: (((modifier - 4) & 0x7ff) ^ 1024) - 1024 }
      : undefined,
    isNotNull: row.not_null === 't',
    isGenerated: row.generated === 't',
    countsUp: row.counts_up === 't',
    hasDefault: row.has_default === 't',
  }
}

function keyOf(row: Row): CatalogKey {
  return { name: row.constraint ?? '', columns: textsIn(row.columns), isPrimary: row.kind === 'p' }
}

function referenceOf(row: Row): CatalogReference {
  return {
    name: row.constraint ?? '',
    columns: textsIn(row.columns),
    target: row.target ?? '',
    targetColumns: textsIn(row.target_columns),
  }
}

function textsIn(json: string | null | undefined): readonly string[] {
  const list: unknown = JSON.parse(json ?? '[]')
  return Array.isArray(list) ? list.map(String) : []
}

/** Partitions are read with the table that they are parts of. */
const relationsSql = `SELECT c.relname AS name, c.relkind AS kind
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  ORDER BY c.relname`

/** A domain stands for its base type; the items of a list say what its labels are. */
const columnsSql = `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS written,
    base.typname AS type, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS modifier,
    (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e
      WHERE e.enumtypid IN (base.oid, base.typelem)) AS labels,
    a.attnotnull OR t.typnotnull AS not_null, a.attgenerated <> '' AS generated,
    a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false) AS counts_up,
    d.oid IS NOT NULL AS has_default
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
  JOIN pg_type base ON base.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND (SELECT count(*) FROM pg_attribute b WHERE b.attrelid = c.oid AND b.attnum > 0 AND b.attnum < a.attnum) < $2::int
  ORDER BY c.relname, a.attnum`

const constraintsSql = `SELECT c.relname AS table, k.conname AS constraint, k.contype AS kind,
    (SELECT json_agg(a.attname ORDER BY place) FROM unnest(k.conkey) WITH ORDINALITY AS u (number, place)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = number) AS columns,
    (SELECT m.nspname || '.' || r.relname FROM pg_class r JOIN pg_namespace m ON m.oid = r.relnamespace
      WHERE r.oid = k.confrelid) AS target,
    (SELECT json_agg(a.attname ORDER BY place) FROM unnest(k.confkey) WITH ORDINALITY AS u (number, place)
      JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = number) AS target_columns
  FROM pg_constraint k
  JOIN pg_class c ON c.oid = k.conrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND k.contype IN ('p', 'u', 'f', 'c', 'x') AND k.conparentid = 0
  ORDER BY c.relname, k.contype, k.conname`

const rulesSql = `SELECT c.relname AS table, found.rule
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL (
    SELECT 'trigger ' || t.tgname AS rule FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal
    UNION ALL SELECT 'policy ' || p.polname FROM pg_policy p WHERE p.polrelid = c.oid
    UNION ALL SELECT 'unique index ' || i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
      WHERE x.indrelid = c.oid AND x.indisunique
        AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid)
  ) AS found
  WHERE n.nspname = $1
  ORDER BY c.relname, found.rule`
