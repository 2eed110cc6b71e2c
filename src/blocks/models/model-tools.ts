/** Custom functions that a model may call: what it is told of them, and what it gets. */
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { PinError } from '../block.ts'
import type { FlowContext, FunctionSignature } from '../context.ts'
import { argumentsProblem, parametersSchema } from '../function-arguments.ts'

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
  const read = readJson(input.trim() === '' ? '{}' : input)
  if (!('value' in read)) return `The arguments are not valid: the JSON ${read.problem}.`
  if (!isJsonObject(read.value)) return 'The arguments must be a JSON object.'
  return argumentsProblem(read.value, parameters) ?? read.value
}
