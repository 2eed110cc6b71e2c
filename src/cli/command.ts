import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Options } from '../options.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'

/** What a command may touch of the world around it. */
export interface Terminal {
  /** The settings from the environment. Throws OptionError. */
  readonly options: () => Options
  /** To the standard output: what was asked for. */
  readonly print: (text: string) => void
  /** To the standard error: what went wrong, and hints. */
  readonly complain: (text: string) => void
  /**
   * What a person who looks wants to know of a server that runs: to the standard output if that is a screen, else to the
   * standard error, so that a file or a collector of log lines gets nothing but JSON from the standard output.
   */
  readonly announce: (text: string) => void
  /** Draws the last line of the screen anew; undefined where the output is not looked at while it is made. */
  readonly redraw?: (line: string) => void
  /** The first line of the standard input, without its end. */
  readonly readLine: () => Promise<string>
  readonly clock: Clock
  readonly random: Random
}

export interface Command {
  /** As it is typed, with what it takes: `export <blueprint> [file]`. */
  readonly usage: string
  readonly summary: string
  /** What `--help` adds, without an end of line. A function where it is long to make. */
  readonly help: string | (() => string)
  /**
   * Gives the exit code: 0 done, 1 failed. Throws UsageError for words that make no sense (exit code 2) and any other
   * error for what failed (1); either is printed as one line.
   */
  readonly run: (words: readonly string[], terminal: Terminal) => Promise<number>
}

/** The words make no sense: exit code 2. */
export class UsageError extends Error {}

/** Flags and words, as node:util reads them. Throws UsageError for an unknown flag or one without its value. */
export function readWords<const T extends NonNullable<ParseArgsConfig['options']>>(
  words: readonly string[],
  options: T,
  expected: { readonly least: number; readonly most: number },
) {
  const parsed = parse(words, options)
  const { length } = parsed.positionals
  if (length < expected.least) throw new UsageError('A word is missing.')
  if (length > expected.most)
    throw new UsageError(`There is a word too many: ${parsed.positionals[expected.most]}.`)
  return parsed
}

function parse<const T extends NonNullable<ParseArgsConfig['options']>>(
  words: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    // node:util adds advice about a bare -- after the first sentence.
    const [sentence] = error instanceof Error ? error.message.split('. ') : []
    throw new UsageError(`${sentence ?? 'The words cannot be read'}.`)
  }
}
