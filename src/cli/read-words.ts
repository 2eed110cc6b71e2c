import { parseArgs } from 'node:util'
import { nearestName } from '../shared/names/nearest-name.ts'

/** What a shell can complete: files, folders, or one of these words. */
export type Completes = 'file' | 'folder' | readonly string[]

export interface Operand {
  /** As usage shows it: `<file>`. */
  readonly name: string
  readonly optional?: true
  readonly completes?: Completes
}

export interface Flag {
  readonly type: 'string' | 'boolean'
  /** Of a string, as usage shows it: `<address>`. */
  readonly value?: string
  /** May have several lines. */
  readonly help: string
  readonly completes?: Completes
  /** May be typed several times. */
  readonly multiple?: true
}

export type Flags = Readonly<Record<string, Flag>>

/** What was typed, by the flags of a command. */
export type ParsedArguments<F extends Flags> = ReturnType<typeof readWords<F>>

/** Invalid usage: exit code 2. */
export class UsageError extends Error {}

/** Reads flags and operands. Throws UsageError that says what is wrong with which of them. */
export function readWords<const F extends Flags>(
  words: readonly string[],
  { operands, flags }: { readonly operands: readonly Operand[]; readonly flags: F },
) {
  const args = withNumbersLast(words)
  checkFlags(args, flags)
  const parsed = parseArgs({ args, options: flags, allowPositionals: true, strict: true })
  const { length } = parsed.positionals
  const missing = operands.find(({ optional }, place) => place >= length && !optional)
  if (missing) throw new UsageError(`Missing argument: ${missing.name}.`)
  if (length > operands.length)
    throw new UsageError(`Unexpected argument: ${parsed.positionals[operands.length]}.`)
  return parsed
}

/** Numbers below zero are operands, not options: `setting set QUOIN_KEEP_LOGS -1` is told what is wrong with the value. */
function withNumbersLast(words: readonly string[]): string[] {
  const numbers = words.filter((word) => /^-\d/.test(word))
  if (numbers.length === 0 || words.includes('--')) return [...words]
  return [...words.filter((word) => !numbers.includes(word)), '--', ...numbers]
}

/** Before node:util does, whose messages suggest nothing. */
function checkFlags(args: string[], flags: Flags): void {
  const { tokens } = parseArgs({ args, options: flags, allowPositionals: true, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (!flag) {
      const nearest = nearestName(name, Object.keys(flags))
      throw new UsageError(
        `Unknown option ${rawName}.${nearest === undefined ? '' : ` Did you mean --${nearest}?`}`,
      )
    }
    if (flag.type === 'boolean' && inlineValue) throw new UsageError(`Option ${rawName} takes no value.`)
    // A value that is left out: the next word is another option.
    if (flag.type === 'string' && (value === undefined || (!inlineValue && value.startsWith('-'))))
      throw new UsageError(`Option ${rawName} needs a value: ${rawName} ${flag.value ?? '<value>'}.`)
  }
}
