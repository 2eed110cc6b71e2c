/** In which order tables are imported, so that what a row refers to is there before it. */
import type { SourceTable } from './source.ts'

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
