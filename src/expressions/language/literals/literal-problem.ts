import { ArgumentError } from '../function-declaration.ts'
import { readParsingParts, readPatternParts } from './date-pattern.ts'
import { checkLocale, checkZone, hashName, readUnit } from './literals.ts'

/** Throws ArgumentError, as the function does when it runs. */
type Check = (text: string) => unknown

/** Parameters of this name mean the same in all functions that have them. */
const checks: Readonly<Record<string, Check>> = {
  zone: checkZone,
  locale: checkLocale,
  unit: (unit) => readUnit('unit', unit),
  amounts: (unit) => readUnit('amounts', unit),
  algorithm: hashName,
}

/** Of the functions that have a pattern of dates. */
const patterns: Readonly<Record<string, Check>> = { format: readPatternParts, parseDate: readParsingParts }

/**
 * What keeps a text that is written out in an expression from an argument, in words that finish "<parameter> …": most patterns,
 * zones and units are written out, so that what would fail in every run is told before. Regular expressions are not read here:
 * a browser does not load what reads them.
 */
export function literalProblem(called: string, parameter: string, text: string): string | undefined {
  const readPattern = parameter === 'pattern' && Object.hasOwn(patterns, called) && patterns[called]
  const check = readPattern ? readPattern : Object.hasOwn(checks, parameter) ? checks[parameter] : undefined
  try {
    check?.(text)
    return undefined
  } catch (error) {
    if (error instanceof ArgumentError) return error.message
    throw error
  }
}
