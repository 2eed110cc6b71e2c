/**
 * Drops the indexes that no search needs any more. First all nodes stop relying on them, then they are dropped CONCURRENTLY,
 * so no reader or writer waits. A crash between the two leaves an unused index; a search that needs it uses it again.
 */
import type { Index } from '../../document-index.ts'
import { oddIndex } from '../sql/field-sql.ts'
import { changing } from './postgres-ensure.ts'
import { planIndex } from './postgres-indexes.ts'
import type { PostgresParts } from './postgres-parts.ts'
import { fieldStatistics } from './postgres-statistics.ts'

/** Drops those that are neither unique nor among `wanted`. Only within `parts.alone`. */
export async function releaseIndexes(
  parts: PostgresParts,
  name: string,
  wanted: readonly Index[],
): Promise<void> {
  await parts.catalogue.reload()
  const entry = parts.catalogue.find(name)
  if (entry === undefined) return
  const keep = new Set(wanted.map((index) => planIndex(entry, index)?.name))
  const isKept = ([indexName, { unique }]: readonly [string, Index]) => unique || keep.has(indexName)
  const gone = [...entry.indexes].filter((index) => !isKept(index))
  if (gone.length === 0) return
  const names = gone.map(([indexName]) => indexName)
  await changing(parts, (transaction) =>
    transaction.run('DELETE FROM storage_index WHERE storage = $1 AND name = ANY ($2::text[])', [
      entry.id,
      names,
    ]),
  )
  // The index of a field's odd values and its statistics serve all indexes over the field.
  const fieldsOf = (indexes: readonly (readonly [string, Index])[]) =>
    indexes.flatMap(([, { fields }]) => fields)
  const kept = fieldsOf([...entry.indexes].filter(isKept))
  const left = [...new Set(fieldsOf(gone))].filter((field) => !kept.includes(field))
  const oddNames = (fields: readonly string[]) =>
    new Set(fields.flatMap((field) => oddIndex(entry.table, field, entry.columns)?.name ?? []))
  const beside = oddNames(left).difference(oddNames(kept))
  for (const one of [...names, ...beside])
    await parts.pool.lasting.run(`DROP INDEX CONCURRENTLY IF EXISTS ${one}`)
  for (const { name: one } of left.flatMap((field) => fieldStatistics(entry, field) ?? []))
    await parts.pool.lasting.run(`DROP STATISTICS IF EXISTS ${one}`)
}
