import { nearestName } from '../../shared/names/nearest-name.ts'
import { didYouMean } from './did-you-mean.ts'
import type { Index, Place } from './expression.ts'
import type { ParameterTypes, TypeChecker } from './type-checker.ts'
import { anyType, nothingType, textType, type ValueType, wholeType } from './value-type.ts'
import { isNumber, mayBe, wordsFor } from './value-types.ts'

/** A field that is not known is a warning: it is nothing when the expression runs. */
export function typeOfField(
  of: ValueType,
  key: string,
  place: Place,
  { report, sources }: TypeChecker,
): ValueType {
  if (of.kind === 'any' || of.kind === 'nothing') return of
  if (key === 'length' && (of.kind === 'list' || of.kind === 'text')) return wholeType
  if (of.kind === 'object') {
    const field = Object.hasOwn(of.fields, key) ? of.fields[key] : undefined
    if (field) return field
    const copied = of.without?.includes(key) ? undefined : of.copyOf?.fields
    if (copied && Object.hasOwn(copied, key)) return copied[key] ?? anyType
    if (of.stored) sources.unlisted?.(of, key, place)
    if (of.open) return anyType
    const meant = nearestName(key, Object.keys(of.fields))
    report('warning', `The object has no field ${key}.${didYouMean(meant)}`, place)
    return nothingType
  }
  const advice =
    of.kind === 'list' ? ' Choose an element, such as first(list), or write list.map(x => x.field).' : ''
  report('warning', `There is no field ${key} in ${wordsFor(of)}.${advice}`, place)
  return nothingType
}

export function typeOfIndex(part: Index, parameters: ParameterTypes, checker: TypeChecker): ValueType {
  const [of, key] = [checker.type(part.of, parameters), checker.type(part.key, parameters)]
  const { key: written } = part
  if (written.kind === 'literal' && typeof written.value === 'string')
    return typeOfField(of, written.value, part, checker)
  if (!mayBe(key, textType) && !isNumber(key))
    checker.report(
      'error',
      `An index must be a number or the name of a field; this one is ${wordsFor(key)}.`,
      written,
    )
  if (!isNumber(key)) return anyType
  if (of.kind === 'list') return of.of
  return of.kind === 'text' ? textType : anyType
}
