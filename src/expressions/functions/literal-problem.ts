import { patternProblem } from '../../shared/text-pattern.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import { readPatternParts } from './date-pattern.ts'
import { readUnit } from './date-unit.ts'
import { inZone } from './moment.ts'
import { checkLocale } from './number-format.ts'
import { hashName } from './random-and-hashes.ts'

/** Throws ArgumentError, as the function does when it runs. */
type Check = (text: string) => unknown

/** Parameters of this name mean the same in all functions that have them. */
const checks: Readonly<Record<string, Check>> = {
  zone: (zone) => inZone(zone, () => Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone)),
  locale: checkLocale,
  unit: (unit) => readUnit('unit', unit),
  amounts: (unit) => readUnit('amounts', unit),
  algorithm: hashName,
}

/**
 * What keeps a text that is written out in an expression from an argument, in words that finish "<parameter> …": most patterns,
 * zones and units are written out, so that a deploy can refuse what would fail in every run.
 */
export function literalProblem(called: string, parameter: string, text: string): string | undefined {
  if (called === 'matches' && parameter === 'pattern') return patternProblem(text)
  const isDatePattern = parameter === 'pattern' && (called === 'format' || called === 'parseDate')
  const check = isDatePattern
    ? readPatternParts
    : Object.hasOwn(checks, parameter)
      ? checks[parameter]
      : undefined
  try {
    check?.(text)
    return undefined
  } catch (error) {
    if (error instanceof ArgumentError) return error.message
    throw error
  }
}
