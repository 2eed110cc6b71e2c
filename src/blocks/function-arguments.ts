/** The parameters of a custom function for callers outside of flows: models, and agents that have it as a tool. */
import type { CustomOutPin } from '../shared/blueprint.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import type { PinType } from '../shared/pin-type.ts'
import { PinError } from './block.ts'
import { converterFor } from './pins/convert-pin.ts'

type Parameters = readonly CustomOutPin[]

const typeOf: Partial<Record<PinType, string>> = {
  ...{ value: 'string', line: 'string', date: 'string', number: 'number', condition: 'boolean' },
  ...{
    object: 'object',
    document: 'object',
    user: 'object',
    file: 'object',
    array: 'array',
    documents: 'array',
  },
}

function schemaOfPin(type: PinType): JsonObject {
  const named = typeOf[type]
  return { ...(named && { type: named }), ...(type === 'date' && { format: 'date-time' }) }
}

/** JSON Schema of what the function is called with. */
export function parametersSchema(parameters: Parameters): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ id, type }) => [id, schemaOfPin(type)])),
    additionalProperties: false,
  }
}

/** What is wrong with the arguments, as a sentence, or undefined. */
export function argumentsProblem(sent: JsonObject, parameters: Parameters): string | undefined {
  for (const [id, value] of Object.entries(sent)) {
    const parameter = parameters.find((one) => one.id === id)
    if (!parameter) return `There is no parameter ${id.slice(0, 60)}.`
    const problem = valueProblem(id, value, parameter.type)
    if (problem !== undefined) return problem
  }
  return undefined
}

function valueProblem(id: string, value: JsonValue, type: PinType): string | undefined {
  try {
    converterFor(id, { type, help: '' }, 'any')(value)
    return undefined
  } catch (error) {
    if (error instanceof PinError) return `${id} ${error.message}.`
    throw error
  }
}
