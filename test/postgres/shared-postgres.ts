import { inject } from 'vitest'

let port: Promise<number> | undefined

/** Port of the PostgreSQL that all suites of a run share. The first suite that asks starts it. */
export function postgresPort(): Promise<number> {
  port ??= ask()
  return port
}

async function ask(): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${inject('postgresStarter')}`)
  const text = await reply.text()
  if (reply.ok) return Number(text)
  const error = new Error(`PostgreSQL does not start here: ${text.split('\n').join(' ')}`)
  // A line says all there is; the stack would be that of this file.
  error.stack = error.message
  throw error
}
