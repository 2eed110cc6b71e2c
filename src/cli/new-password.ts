import { type Terminal, UsageError } from './command.ts'

/** The flag of commands that set a password. It has no value: what is typed can be read by others on the machine. */
export const passwordOption = { 'password-stdin': { type: 'boolean' } } as const

export const passwordHelp = `  --password-stdin  Read the password from the first line of the standard input. Without it a random
                    one is made and printed once.`

export interface NewPassword {
  readonly password: string
  /** Made here, so it has to be shown. */
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
