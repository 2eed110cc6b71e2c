import type { Terminal } from './command.ts'
import { UsageError } from './read-words.ts'

/** The flag of commands that set a password. It has no value: other users of the machine can read a command line. */
export const passwordFlag = {
  'password-stdin': {
    type: 'boolean',
    help: `Read the password from the first line of the standard input. Without it a random
password is generated and printed once.`,
  },
} as const

export interface NewPassword {
  readonly password: string
  /** Generated here, so it has to be shown. */
  readonly isMade: boolean
}

/** Throws UsageError for an empty line. */
export async function newPassword(terminal: Terminal, fromInput: boolean): Promise<NewPassword> {
  if (!fromInput) {
    // 120 bits; the first character is a letter, so that no shell takes it for a flag.
    const bytes = new Uint8Array(15)
    terminal.random(bytes)
    return { password: `q${Buffer.from(bytes).toString('base64url')}`, isMade: true }
  }
  const password = await terminal.readLine()
  if (password === '') throw new UsageError('--password-stdin found no password on the standard input.')
  return { password, isMade: false }
}
