/** Options that change without a restart: their texts are stored in the database, and the environment goes before them. */
import type { ServerOption } from '../shared/server-option.ts'
import { commandOptions } from './command-options.ts'
import { type Option, OptionError, readOption } from './option-kinds.ts'
import { type Options, optionTable } from './options.ts'

/** Every option that a server reads, in the order of the table. */
export const serverOptionList: readonly ServerOption[] = Object.entries<Option<unknown>>(optionTable)
  .filter(([key]) => !Object.hasOwn(commandOptions, key))
  .map(([, option]) => ({
    name: option.variable,
    help: option.help,
    accepts: option.accepts,
    fallback: option.fallback,
    secret: option.secret === true,
    changeable: option.changeable === true,
    scope: option.scope,
    problem: (text) => problemOf(option, text),
  }))

/**
 * The options with the stored texts of those that are changeable and that the environment does not set. A text that is not
 * accepted is left out: a version with other limits may have stored it. No check of one option by another needs to
 * look again: none of them is about a changeable one.
 */
export function withStored(
  options: Options,
  stored: ReadonlyMap<string, string>,
  mayBeSet: (variable: string) => boolean = () => true,
): Options {
  const counting = Object.entries<Option<unknown>>(optionTable).flatMap(([key, option]) => {
    const text = stored.get(option.variable)
    if (text === undefined || !option.changeable || !mayBeSet(option.variable)) return []
    if (Object.hasOwn(options.texts, option.variable)) return []
    return problemOf(option, text) === undefined ? [[key, option.read(text.trim())]] : []
  })
  return { ...options, ...Object.fromEntries(counting) }
}

function problemOf(option: Option<unknown>, text: string): string | undefined {
  try {
    // Empty would be the default: without a setting it counts anyway.
    if (text.trim() === '') return `${option.variable} is empty; it must be ${option.accepts}.`
    readOption(option, { [option.variable]: text })
    return undefined
  } catch (error) {
    if (error instanceof OptionError) return error.message
    throw error
  }
}
