import type { TestProject } from 'vitest/node'
import { openPostgresServer } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Port of the PostgreSQL that all test files of a run share. */
    readonly postgresPort: number
    /** On which engine the suites above storage run. */
    readonly engine: 'sqlite' | 'postgres'
    /** Looks at everything, also at what `npm test` leaves out because it takes long: only in `npm run torture`. */
    readonly thorough: boolean
  }
}

/** One server for a run; each test file takes a database of its own on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await openPostgresServer()
  project.provide('postgresPort', server.port)
  return () => server.close()
}
