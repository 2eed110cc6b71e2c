import type { Terminal } from '../command.ts'

/** Throws where the settings say that the data is in PostgreSQL. `instead`: what to do there. */
export function refusePostgres(terminal: Terminal, command: string, instead: string): void {
  if (terminal.options().databaseUrl === '') return
  throw new Error(
    `${command} is for the embedded engine; DATABASE_URL is set, so the data is in PostgreSQL: ${instead}. For the data folder all the same, run it without DATABASE_URL.`,
  )
}
