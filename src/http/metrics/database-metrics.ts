import type { DatabaseFigures } from '../../storage/database-figures.ts'
import type { Metric } from './prometheus-text.ts'

/** What an engine does not tell is left out. */
export function databaseMetrics({
  sizeBytes,
  logBytes,
  commits,
  connections,
  cache,
}: DatabaseFigures): Metric[] {
  return [
    one('quoin_database_size_bytes', 'Data of the database, without its log.', sizeBytes),
    ...(logBytes === null ? [] : [one('quoin_database_log_bytes', 'Write-ahead log on disk.', logBytes)]),
    count('quoin_database_commits_total', 'Committed transactions of the database.', commits),
    count('quoin_database_cache_hits_total', 'Reads of the database that needed no disk.', cache.hits),
    count(
      'quoin_database_cache_misses_total',
      'Reads of the database that its cache did not have.',
      cache.misses,
    ),
    ...(connections
      ? [
          {
            name: 'quoin_database_connections',
            help: 'Connections of the node by state, work that waits for one, and QUOIN_POOL (most).',
            type: 'gauge',
            samples: Object.entries(connections).map(([state, value]) => ({ labels: { state }, value })),
          } as const,
        ]
      : []),
  ]
}

function one(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', samples: [{ value }] }
}

function count(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', samples: [{ value }] }
}
