/**
 * The PostgreSQL of a run, which starts when the first suite asks for it: most runs of a few files never do. Suites run in
 * other processes, so they ask over a port of this one, which owns the server and outlives them (`shared-postgres.ts`).
 */
import { createServer } from 'node:http'
import type { TestProject } from 'vitest/node'
import { openPostgresServer, type PostgresServer } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Port that starts PostgreSQL when it is asked, and replies with the port of PostgreSQL. */
    readonly postgresStarter: number
    /** On which engine the suites above storage run. */
    readonly engine: 'sqlite' | 'postgres'
    /** Looks at everything, also at what `npm test` leaves out because it takes long: only in `npm run torture`. */
    readonly thorough: boolean
    /** The block whose example alone is tried: in the copies of `recipes.test.ts`. */
    readonly onlyExample?: string
  }
}

/** One server for a run; each test file takes a database of its own on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined
  const starter = createServer((_request, reply) => {
    server ??= openPostgresServer()
    server.then(
      ({ port }) => reply.end(String(port)),
      (error: unknown) => {
        reply.statusCode = 500
        reply.end(error instanceof Error ? error.message : String(error))
      },
    )
  })
  await new Promise<void>((listening) => starter.listen(0, '127.0.0.1', listening))
  const address = starter.address()
  if (typeof address !== 'object' || address === null) throw new Error('The starter has no port.')
  project.provide('postgresStarter', address.port)
  return async () => {
    starter.closeAllConnections()
    starter.close()
    const running = await server?.catch(() => undefined)
    await running?.close()
  }
}
