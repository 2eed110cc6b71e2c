import { wordFor } from '../../shared/fields/type-words.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { appendNode, everyNode, nodesOf, type PageNode } from '../../shared/pages/page-content.ts'
import type { PageInput } from '../../shared/pages/page-input.ts'
import type { RowParts } from '../../shared/rows/row-part.ts'
import { defineValue, PinError } from '../block.ts'
import { builderStorage } from '../names.ts'
import { inputNode, type WrittenInput, writtenTypes } from './input-node.ts'
import { formId } from './page-pins.ts'

const MAX_INPUTS = 200

const isText = (value: JsonValue) => typeof value === 'string'
const isTruth = (value: JsonValue) => typeof value === 'boolean'
const anything = () => true

/** Of each key what it must be. Nothing (null) counts as left out, so that an expression can leave a key out. */
const keys: Readonly<
  Record<keyof WrittenInput, readonly [fits: (value: JsonValue) => boolean, must: string]>
> = {
  field: [isText, 'must be text'],
  label: [isText, 'must be text'],
  type: [(value) => wordFor(value, writtenTypes) !== undefined, `must be one of ${writtenTypes.join(', ')}`],
  value: [anything, ''],
  required: [isTruth, 'must be true or false'],
  options: [(value) => Array.isArray(value), 'must be a list'],
  storage: [isText, 'must be the name of a storage'],
  help: [isText, 'must be text'],
  placeholder: [isText, 'must be text'],
  autocomplete: [isText, 'must be text'],
  min: [anything, ''],
  max: [anything, ''],
  max_length: [
    (value) => Number.isSafeInteger(value) && Number(value) >= 1,
    'must be a whole number of at least 1',
  ],
  accept: [isText, 'must be text'],
  multiple: [isTruth, 'must be true or false'],
}

const inputParts: RowParts = {
  field: { kind: 'field' },
  label: { kind: 'text' },
  type: { kind: 'choice', choices: writtenTypes },
  required: { kind: 'switch' },
  help: { kind: 'text' },
  placeholder: { kind: 'text' },
  autocomplete: { kind: 'text' },
  max_length: { kind: 'number' },
  accept: { kind: 'text' },
  multiple: { kind: 'switch' },
}

/**
 * The inputs of a form as a builder writes them: names of fields, or objects with the pins of the block "Input" as keys.
 * Throws PinError for `inputs`.
 */
function formInputs(written: readonly JsonValue[]): PageInput[] {
  if (written.length > MAX_INPUTS)
    throw new PinError('inputs', `must be at most ${MAX_INPUTS} and are ${written.length}`)
  const seen = new Set<string>()
  return written.map((one) => {
    const input = readInput(typeof one === 'string' ? { field: one } : one)
    const { field } = input
    if (seen.has(field)) throw refusal(field, ' twice')
    seen.add(field)
    return inputNode(input, (part, message) =>
      refusal(field, part === 'field' ? `, which ${message}` : `, whose ${part} ${message}`),
    )
  })
}

function readInput(written: JsonValue): WrittenInput {
  const object: JsonObject = isJsonObject(written) ? written : {}
  const { field } = object
  if (typeof field !== 'string')
    throw new PinError('inputs', 'must contain names of fields, or objects with a field')
  const inputs: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(object)) {
    if (value === null) continue
    if (!isKey(key)) {
      const near = nearestName(key, Object.keys(keys))
      throw refusal(
        field,
        ` with the unknown key ${key}${near === undefined ? '' : ` (did you mean ${near}?)`}`,
      )
    }
    const [fits, must] = keys[key]
    if (!fits(value)) throw refusal(field, `, whose ${key} ${must}${adviceFor(value)}`)
    inputs[key] = value
  }
  return { ...inputs, field }
}

/** A list is written out, or calculated as a whole. */
function adviceFor(value: JsonValue): string {
  return typeof value === 'string' && value.startsWith('=')
    ? ': an expression is the whole pin, such as =[{ field: "size", options: env.SIZES }]'
    : ''
}

function isKey(key: string): key is keyof WrittenInput {
  return Object.hasOwn(keys, key)
}

function refusal(field: string, message: string): PinError {
  return new PinError('inputs', `has the field ${JSON.stringify(field)}${message}`)
}

export default defineValue({
  identifier: 'state_form',
  title: 'Form',
  words: 'Form {form_id}',
  summary:
    'Adds a form to the page. When valid values are submitted, the flow continues at submit. Invalid values are reported beside their inputs.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    form_id: { type: 'value', required: true, help: 'Name of the form, unique on the page.' },
    inputs: {
      type: 'array',
      rows: inputParts,
      help: 'The inputs, at most 200: names of fields, or objects with field and the pins of "Input" (label, type, value, required, options, help, placeholder, autocomplete, min, max, max_length …).',
    },
    content: { type: 'state', help: 'Further inputs and other content, below the inputs.' },
    storage: {
      type: 'storage',
      help: 'Storage of the form: its blueprint fields define and check the inputs.',
    },
    document: { type: 'object', help: 'Initial values, such as the document to edit.' },
    label: { type: 'value', help: 'Name of the form for screen readers.' },
    submit_label: {
      type: 'value',
      default: 'Save',
      help: 'Label of the submit button, unless the content has one.',
    },
  },
  out: {
    state: { type: 'state', help: 'The page with the form.' },
    submit: {
      type: 'flow',
      event: true,
      help: 'Continues here when the form is submitted with valid values.',
    },
    values: {
      type: 'object',
      event: true,
      help: 'Submitted values by field, converted to the types of the fields. In the flow at submit.',
    },
  },
  settings: {},
  check({ inputs }) {
    if (inputs !== undefined) formInputs(inputs)
  },
  value(inputs, { block = '' }) {
    const content = [...formInputs(inputs.inputs ?? []), ...nodesOf(inputs.content)]
    const storage = inputs.storage === undefined ? undefined : builderStorage(inputs.storage)
    return {
      state: appendNode(inputs.state, {
        kind: 'form',
        id: formId('form_id', inputs.form_id),
        block,
        content: hasSubmit(content) ? content : [...content, submitButton(inputs.submit_label)],
        ...(inputs.label !== undefined && { label: inputs.label }),
        ...(storage !== undefined && { storage }),
        ...(inputs.document !== undefined && { document: inputs.document }),
      }),
    }
  },
})

function hasSubmit(content: readonly PageNode[]): boolean {
  for (const node of everyNode(content)) if (node.kind === 'button' && node.action === 'submit') return true
  return false
}

function submitButton(label: string): PageNode {
  return { kind: 'button', action: 'submit', label, tone: 'primary' }
}
