import {
  openPostgresServer,
  type PostgresServer,
  type PostgresServerOptions,
} from '../test/postgres/postgres-server.ts'
import { onAllCores } from './cores.ts'

/** A PostgreSQL on all cores. On the load generator's core alone it waited for that one's bursts. */
export function openMeasuredPostgres(options?: PostgresServerOptions): Promise<PostgresServer> {
  return onAllCores(() => openPostgresServer(options))
}
