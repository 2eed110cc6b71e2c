import { UsageError } from './read-words.ts'

/** The address of a server as typed, with or without /api/v1, as all spellings of it are kept. Throws UsageError. */
export function serverAddress(typed: string): string {
  if (!URL.canParse(typed) || !/^https?:\/\//i.test(typed))
    throw new UsageError(`${JSON.stringify(typed)} is not an address such as http://127.0.0.1:8080.`)
  const { origin, pathname, username, password } = new URL(typed)
  if (username !== '' || password !== '')
    throw new UsageError(
      'The address must not contain a password: other users of this machine can read a command line.',
    )
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, '').replace(/\/api\/v1$/, '')}`
}
