/** What the thread of `search-thread.ts` runs. Not to be imported. */
import { parentPort, workerData } from 'node:worker_threads'
import { QuoinError } from '../../../shared/errors.ts'
import { totalKnownFrom } from '../../find-documents.ts'
import { EffortSpent, tooMuchToAggregate, tooMuchToCompare } from '../../search/search-effort.ts'
import { loadShape } from '../core/document-shape.ts'
import { guarded, numberOf, SqliteConnection } from '../core/sqlite-connection.ts'
import { readShape } from '../core/sqlite-documents.ts'
import { DamagedDatabase } from '../core/sqlite-errors.ts'
import { documentTable, textTable } from '../core/tables.ts'
import { readPlaces } from '../text/text-places.ts'
import { readSimilar } from '../text/text-vocabulary.ts'
import { readIndexes } from './covering-index.ts'
import { registerSearchFunctions } from './search-functions.ts'
import type { SearchAnswer, SearchTask, SearchThreadData } from './search-thread-task.ts'
import type { SearchTarget } from './sql-values.ts'
import { aggregateDocuments } from './sqlite-aggregate.ts'
import { countDocuments, findDocuments } from './sqlite-find.ts'

const { path }: SearchThreadData = workerData
const connection = new SqliteConnection({ path, readOnly: true, synchronous: 'FULL' })
registerSearchFunctions(connection)

function carryOut(task: SearchTask): SearchAnswer {
  switch (task.kind) {
    case 'find':
      return inSnapshot(task.storage, (target, milliseconds) =>
        connection.within(task.effort, () => {
          const found = findDocuments(connection, target, task.search)
          const { query, includeRemoved } = task.search
          const known = totalKnownFrom(found, task.search)
          const total = task.total
            ? (known ?? countDocuments(connection, target, query, includeRemoved))
            : undefined
          const { documents, length } = found
          return { kind: 'found', milliseconds: milliseconds(), documents: documents.text, length, total }
        }),
      )
    case 'count':
      return inSnapshot(task.storage, (target, milliseconds) =>
        connection.within(task.effort, () => {
          const total = countDocuments(connection, target, task.query, task.includeRemoved)
          return { kind: 'counted', milliseconds: milliseconds(), total }
        }),
      )
    case 'aggregate':
      return inSnapshot(task.storage, (target, milliseconds) =>
        connection.within(task.effort, () => {
          const { rows, total } = aggregateDocuments(
            connection,
            target,
            task.aggregate,
            readIndexes(connection, target.id),
          )
          return { kind: 'aggregated', milliseconds: milliseconds(), rows: rows.text, total }
        }),
      )
    case 'places':
      return { kind: 'places', ...readPlaces(connection, task.text, task.phrase) }
    case 'similar':
      return { kind: 'similar', words: readSimilar(connection, task.textTable, task.token, task.distance) }
  }
}

/** A storage's shape and indexes are read in the transaction: the writer may change them between two tasks. */
function inSnapshot(
  storage: string,
  work: (target: SearchTarget, milliseconds: () => number) => SearchAnswer,
): SearchAnswer {
  const began = performance.now()
  connection.run('BEGIN')
  try {
    const target = readTarget(storage)
    if (target === undefined)
      throw new QuoinError('INTERNAL', `There is no storage named ${JSON.stringify(storage)}.`)
    return work(target, () => performance.now() - began)
  } finally {
    if (connection.inTransaction) connection.run('COMMIT')
  }
}

/** The storage as the connection's transaction sees it. */
function readTarget(storage: string): SearchTarget | undefined {
  const row = connection.get('SELECT id, text_complete FROM storage WHERE name = ?', storage)
  if (row === undefined) return undefined
  const id = numberOf(row, 'id')
  return {
    id,
    table: documentTable(id),
    textTable: numberOf(row, 'text_complete') === 1 ? textTable(id) : undefined,
    shape: loadShape(readShape(connection, id)),
    // Asked while a search is compiled, in its transaction.
    other: readTarget,
  }
}

function tooMuch({ kind }: SearchTask): QuoinError {
  return kind === 'aggregate' ? tooMuchToAggregate() : tooMuchToCompare()
}

function answer(task: SearchTask): SearchAnswer {
  try {
    return guarded(() => carryOut(task))
  } catch (error) {
    const reported = error instanceof EffortSpent ? tooMuch(task) : error
    if (reported instanceof DamagedDatabase) return { kind: 'damaged', message: reported.reason }
    if (reported instanceof QuoinError)
      return { kind: 'refused', code: reported.code, message: reported.message }
    return { kind: 'failed', message: reported instanceof Error ? reported.message : String(reported) }
  }
}

parentPort?.on('message', (task: SearchTask | 'close') => {
  if (task === 'close') {
    connection.close()
    parentPort?.close()
    return
  }
  parentPort?.postMessage(answer(task))
})
