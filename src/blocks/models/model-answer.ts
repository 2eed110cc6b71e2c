/**
 * What a model is asked for and what it is offered: answers that have fields, and whether an answer keeps to them; custom functions that it
 * may call, what it is told of them, and what it gets.
 */
import { type FieldRule, fieldValueProblem } from '../../shared/field-rule.ts'
import { fieldTypeEntries } from '../../shared/fields/field-type.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { type RequestField, requestFields, ruleOfField } from '../../shared/request-field.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { PinError } from '../block.ts'
import type { FlowContext, FunctionSignature } from '../context.ts'
import { argumentsProblem, parametersSchema } from '../function-arguments.ts'

const MOST_PROBLEMS = 10
/** Characters of an answer with fields, and of the arguments of a call: they are read in one turn. */
export const LONGEST_ANSWER = 512 * 1024
export const LONGEST_INPUT = 256 * 1024

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
  if (text.length > LONGEST_ANSWER)
    return { problem: `The answer has more than ${LONGEST_ANSWER} characters.` }
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

/** Characters of what a tool gives. */
const LONGEST_RESULT = 65_536

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON, as the model wrote it. */
  readonly input: string
}

export interface ModelTools {
  readonly descriptions: readonly JsonObject[]
  /** The text for the model: what the function gave, or what is wrong with the call. A function that fails fails the block. */
  call(call: ToolCall): Promise<string>
}

/** Throws PinError for a name that no active blueprint has. */
export function modelTools(names: readonly string[], context: FlowContext): ModelTools {
  const signatures = new Map(
    names.map((name) => {
      const signature = context.signature(name)
      if (!signature)
        throw new PinError('tools', `names ${JSON.stringify(name)}, which no active blueprint has`)
      return [name, signature]
    }),
  )
  return {
    descriptions: [...signatures].map(([name, { description, parameters }]) => ({
      type: 'function',
      function: {
        name,
        ...(description !== '' && { description }),
        parameters: parametersSchema(parameters),
      },
    })),
    async call({ name, input }) {
      const signature = signatures.get(name)
      if (!signature) return `There is no tool ${name.slice(0, 60)}. Tools: ${names.join(', ')}.`
      const read = readInput(input, signature)
      if (typeof read === 'string') return read
      const result = await context.call(name, read)
      const text = JSON.stringify(result ?? null)
      return text.length > LONGEST_RESULT ? `${text.slice(0, LONGEST_RESULT)}… (cut)` : text
    },
  }
}

/** What is wrong with the input, or its values by parameter. */
function readInput(input: string, { parameters }: FunctionSignature): JsonObject | string {
  if (input.length > LONGEST_INPUT) return `The arguments have more than ${LONGEST_INPUT} characters.`
  const read = readJson(input.trim() === '' ? '{}' : input)
  if (!('value' in read)) return `The arguments are not valid: the JSON ${read.problem}.`
  if (!isJsonObject(read.value)) return 'The arguments must be a JSON object.'
  return argumentsProblem(read.value, parameters) ?? read.value
}
