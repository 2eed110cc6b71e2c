import type { ManagementScope } from '../shared/management-scopes.ts'

/** One setting: its variable, what it is, its default and how its text is read. */
export interface Option<T> {
  readonly variable: string
  readonly help: string
  /** As one would write it. */
  readonly fallback: string
  /** What is accepted, in words. */
  readonly accepts: string
  /** The value, or undefined for text that is not accepted. */
  readonly read: (text: string) => T | undefined
  /** What keeps a text from being accepted, in words that finish "VARIABLE …" and hold nothing secret. */
  readonly problem?: (text: string) => string | undefined
  /** Never shown, not even when it is wrong. */
  readonly secret?: true
  /** Takes effect without a restart, so that it can be set in the studio; else it is read once, at the start. */
  readonly changeable?: true
  /** The users of a space may change it for their space. All others are of the operator. */
  readonly ofSpace?: true
  /** Needed to change it, besides those of settings. */
  readonly scope?: ManagementScope
}

/** Options of one file, by the name that code calls them by. */
export type OptionGroup = Readonly<Record<string, Option<unknown>>>

/** Gives what an option is set to. */
export type ReadOne = <T>(option: Option<T>) => NonNullable<T>

/** What the options of a group are set to. */
export type ReadGroup<T extends OptionGroup> = {
  readonly [K in keyof T]: NonNullable<ReturnType<T[K]['read']>>
}

export const number = (least: number, most: number) => ({
  accepts: `a whole number from ${least} to ${most}`,
  read: (text: string) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : undefined
  },
})

export const text = { accepts: 'text', read: (input: string) => input }

export const list = {
  accepts: 'a list separated by commas',
  read: (input: string) =>
    input
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
}

export const postgresUrl = {
  accepts: 'empty, or postgres://user:password@host:port/database',
  secret: true,
  read: (input: string) => (input === '' || isPostgresUrl(input) ? input : undefined),
} as const

function isPostgresUrl(input: string): boolean {
  const url = URL.parse(input)
  return url !== null && ['postgres:', 'postgresql:'].includes(url.protocol) && url.pathname.length > 1
}

export const flag = {
  accepts: '0 or 1',
  read: (input: string) => (input === '1' ? true : input === '0' ? false : undefined),
}

/** The text, if what is made of it can be made. */
export function accepted(input: string, make: () => unknown): string | undefined {
  try {
    make()
    return input
  } catch {
    return undefined
  }
}

export function choice<const T extends string>(...values: readonly T[]) {
  return { accepts: values.join(', '), read: (input: string) => values.find((value) => value === input) }
}

/** A setting that was not accepted: one line for the operator. */
export class OptionError extends Error {}

/** The value of a setting in these variables, or its default. Throws OptionError for text that is not accepted. */
export function readOption<T>(
  option: Option<T>,
  environment: Readonly<Record<string, string | undefined>>,
): NonNullable<T> {
  const input = environment[option.variable]
  const written = input === undefined || input === '' ? option.fallback : input.trim()
  const value = option.read(written)
  if (value === undefined || value === null) {
    const problem = option.problem?.(written)
    if (problem !== undefined) throw new OptionError(`${option.variable} ${problem}.`)
    const what = option.secret ? 'cannot be used' : `is ${JSON.stringify(written)}`
    throw new OptionError(`${option.variable} ${what}; it must be ${option.accepts}.`)
  }
  return value
}
