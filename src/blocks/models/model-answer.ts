/** Answers of a model that have fields: what the model is asked for, and whether its answer keeps to it. */
import { type FieldRule, fieldValueProblem } from '../../shared/field-rule.ts'
import { fieldTypeEntries } from '../../shared/fields/field-type.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { type RequestField, requestFields, ruleOfField } from '../../shared/request-field.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'

const MOST_PROBLEMS = 10

export interface AnswerFields {
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
  /** `problem` is a whole sentence. */
  read(text: string): { readonly value: JsonObject } | { readonly problem: string }
}

/** Undefined where the answer is a text. */
export async function answerFields(
  settings: { readonly fields: readonly JsonValue[]; readonly storage: string | undefined },
  context: FlowContext,
): Promise<AnswerFields | undefined> {
  const own = requestFields(settings.fields)
  if (settings.storage === undefined) return own.length === 0 ? undefined : fieldsOf(own.map(ruleOrAny))
  const rules = (await context.rules(settings.storage)).filter(isAnswerable)
  if (rules.length === 0) throw new PinError('storage', 'has no fields that a model could answer with')
  return fieldsOf(rules)
}

interface AnswerField {
  readonly name: string
  readonly required: boolean
  readonly help?: string | undefined
  /** Undefined: any value. */
  readonly rule: FieldRule | undefined
  readonly isWhole?: boolean
}

function ruleOrAny(field: RequestField): AnswerField {
  const { name, required, type } = field
  return { name, required, rule: ruleOfField(field), isWhole: type === 'whole number' }
}

/** What Quoin writes itself, references and files are not for a model, and a dotted name is a part of another field. */
function isAnswerable({ name, type, computed, reference }: FieldRule): boolean {
  if (name.includes('.') || computed !== undefined || reference !== undefined) return false
  return fieldTypeEntries[type].automatic !== true && !['file', 'files', 'reference'].includes(type)
}

function fieldsOf(fields: readonly (AnswerField | FieldRule)[]): AnswerFields {
  const all = fields.map((field) => ('rule' in field ? field : { ...field, rule: field }))
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(all.map((field) => [field.name, schemaOf(field)])),
      // A strict schema has all of them; what may be missing may be null.
      required: all.map(({ name }) => name),
      additionalProperties: false,
    },
    read: (text) => readAnswer(all, text),
  }
}

function schemaOf({ rule, required, help, isWhole }: AnswerField): JsonObject {
  if (!rule) return {}
  const { type, ...more } = fieldTypeEntries[rule.type].schema(rule.limits)
  const { choices } = rule.limits
  const named = isWhole ? 'integer' : type
  const types = [named ?? 'string'].flat()
  return {
    ...JSON.parse(JSON.stringify(more)),
    type: required ? (types.length === 1 ? (types[0] ?? 'string') : types) : [...types, 'null'],
    ...(choices && { enum: required ? choices : [...choices, null] }),
    ...(help !== undefined && { description: help }),
  }
}

function readAnswer(fields: readonly AnswerField[], text: string): ReturnType<AnswerFields['read']> {
  const read = readJson(withoutFence(text))
  if (!('value' in read)) return { problem: `The answer ${read.problem}.` }
  const { value } = read
  if (!isJsonObject(value)) return { problem: 'The answer must be a JSON object.' }
  const spend = patternBudget()
  const problems: string[] = []
  const known = new Set(fields.map(({ name }) => name))
  for (const name of Object.keys(value))
    if (!known.has(name)) problems.push(`there is no field ${name.slice(0, 60)}`)
  for (const { name, required, rule, isWhole } of fields) {
    const input = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined
    const problem = rule ? fieldValueProblem(rule, input, spend) : missing(required, input)
    const fraction = isWhole && typeof input === 'number' && !Number.isInteger(input)
    if (problem !== undefined || fraction) problems.push(`${name} ${problem ?? 'must be a whole number'}`)
  }
  if (problems.length > 0)
    return { problem: `The answer does not fit: ${problems.slice(0, MOST_PROBLEMS).join('; ')}.` }
  return { value: Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null)) }
}

function missing(required: boolean, input: JsonValue | undefined): string | undefined {
  return required && input === undefined ? 'is required and must not be empty' : undefined
}

/** Many models put JSON between lines of backquotes. */
function withoutFence(text: string): string {
  const lines = text.trim().split('\n')
  const isFenced = lines.length > 2 && lines[0]?.startsWith('```') && lines.at(-1)?.trim() === '```'
  return isFenced ? lines.slice(1, -1).join('\n') : text
}
