import type { JsonValue } from '../../shared/json.ts'
import { areSameTexts } from '../../shared/texts/composed-text.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import {
  boundedComparison,
  comparisonWork,
  equalityWork,
  longText,
  TooLargeToCompare,
} from '../language/same-value.ts'

/** Whether a value is equal to `requested`, as `==` means it. All calls together make a bounded number of comparisons. */
export function equalTo(
  context: FunctionContext,
  parameter: string,
  requested: JsonValue,
): (value: JsonValue) => boolean {
  if (typeof requested === 'string' && requested.length >= longText)
    return (value) => {
      if (typeof value !== 'string') return false
      context.spend(0, equalityWork(value, requested))
      return areSameTexts(value, requested)
    }
  if (typeof requested === 'string')
    return (value) => typeof value === 'string' && areSameTexts(value, requested)
  if (typeof requested !== 'object') return (value) => value === requested
  const isSame = boundedComparison((values) => context.spend(values, values * comparisonWork))
  return (value) => {
    try {
      return isSame(value, requested)
    } catch (error) {
      if (!(error instanceof TooLargeToCompare)) throw error
      throw new ArgumentError(parameter, 'holds values that are too large to compare')
    }
  }
}
