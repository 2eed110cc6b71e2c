import type { Options } from '../options/options.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import { type Flags, type Operand, type ParsedArguments, readWords } from './read-words.ts'

/** What a command may touch of the world around it. */
export interface Terminal {
  /** The settings from the environment. Throws OptionError. */
  readonly options: () => Options
  /** To the standard output: the result. */
  readonly print: (text: string) => void
  /** To the standard error: errors and hints. */
  readonly complain: (text: string) => void
  /**
   * For a person who watches a running server: to the standard output if that is a screen, else to the standard error, so
   * that a file or a log collector gets only JSON from the standard output.
   */
  readonly announce: (text: string) => void
  /** Draws the last line of the screen again; undefined where the output is not a screen. */
  readonly redraw?: (line: string) => void
  /** The first line of the standard input, without its end. */
  readonly readLine: () => Promise<string>
  /** The same; at a terminal this prompt asks for it, and what is typed is not shown. */
  readonly readSecret: (prompt: string) => Promise<string>

  readonly clock: Clock
  readonly random: Random
}

/** What a command is: help, usage, errors, suggestions and shell completion all come from this. */
interface Spec<F extends Flags> {
  /** One or two words: `user create`. */
  readonly name: string
  readonly operands: readonly Operand[]
  readonly flags: F
  /** One sentence. */
  readonly summary: string
  /** What `--help` adds after the flags, without an end of line. A function where it is long to make. */
  readonly about?: string | (() => string)
  readonly run: (input: ParsedArguments<F>, terminal: Terminal) => Promise<number>
}

export interface Command extends Omit<Spec<Flags>, 'run'> {
  /**
   * Gives the exit code: 0 done, 1 failed. Throws UsageError for invalid usage (exit code 2) and any other error for a
   * failure (1); either is printed as one line.
   */
  readonly run: (words: readonly string[], terminal: Terminal) => Promise<number>
}

/**
 * What a command loads to do its work is imported when it runs: help, completion and errors of usage need none of it
 * (`quoin --help` takes 0.30 of the time, in turns).
 */
export function command<const F extends Flags>(spec: Spec<F>): Command {
  return { ...spec, run: async (words, terminal) => spec.run(readWords(words, spec), terminal) }
}
