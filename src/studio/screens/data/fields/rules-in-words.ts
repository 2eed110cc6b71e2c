import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { fieldTypeEntries, isFieldType } from '../../../../shared/fields/field-type.ts'
import { isJsonObject, type JsonValue } from '../../../../shared/json.ts'
import { fieldsTexts } from '../../../texts/fields.ts'

type RuleFields = Pick<FieldRecord, 'type' | 'validation_rules' | 'unique' | 'reference' | 'computed'>

/** Choices that are named; of more their number is said. */
const MOST_CHOICES = 6

/** What a field demands of its values, as a person says it; empty for one that demands nothing. */
export function rulesInWords({
  type,
  validation_rules: input,
  unique,
  reference,
  computed,
}: RuleFields): string {
  const rules = isJsonObject(input) ? input : {}
  const { pattern, choices, places, currency, items } = rules
  const parts = [
    between(rules.min, rules.max, (text) => text),
    between(
      rules.min_length,
      rules.max_length,
      type === 'list' ? fieldsTexts.inItems : fieldsTexts.inCharacters,
    ),
    typeof places === 'number' ? fieldsTexts.inPlaces(places) : '',
    typeof currency === 'string' ? fieldsTexts.inCurrency(currency) : '',
    Array.isArray(choices) ? oneOf(choices.map(String)) : '',
    typeof items === 'string'
      ? fieldsTexts.eachIs(isFieldType(items) ? fieldTypeEntries[items].label : items)
      : '',
    typeof pattern === 'string' ? fieldsTexts.fits(pattern) : '',
    unique ? fieldsTexts.isUnique : '',
    reference ? fieldsTexts.isOf(reference.storage) : '',
    computed ? fieldsTexts.isComputed : '',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function between(
  least: JsonValue | undefined,
  most: JsonValue | undefined,
  unit: (text: string, one: boolean) => string,
): string {
  if (least === undefined && most === undefined) return ''
  if (least === undefined) return unit(fieldsTexts.upTo(String(most)), most === 1)
  if (most === undefined) return unit(fieldsTexts.from(String(least)), least === 1)
  return unit(fieldsTexts.fromTo(String(least), String(most)), false)
}

function oneOf(choices: readonly string[]): string {
  if (choices.length > MOST_CHOICES) return fieldsTexts.oneOfMany(choices.length)
  return fieldsTexts.oneOf(choices.join(', '))
}
