import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import {
  budgetExceeded,
  ModelUsage,
  modelPins,
  modelServer,
  textFor,
  usageIn,
  usagePins,
} from './model-request.ts'

const MOST_TEXTS = 100
const LONGEST_TEXT = 65_536
const MOST_DIMENSIONS = 16_384

export default defineFlow({
  identifier: 'embed',
  title: 'Embed texts',
  words: 'Embed with {model}',
  summary:
    'Turns texts into vectors of numbers over the OpenAI-compatible embeddings API: texts of a similar meaning have similar vectors.',
  effects: { calls: 'external', callerIndependent: true },
  in: {
    ...modelPins,
    url: {
      type: 'value',
      default: 'embeddings',
      help: 'Path of the embeddings API below the address of the connection; without a connection the whole address.',
    },
    input: {
      type: 'any',
      required: true,
      help: 'A text, or a list of at most 100 texts, each of at most 65,536 characters.',
    },
    dimensions: {
      type: 'number',
      min: 1,
      max: MOST_DIMENSIONS,
      integer: true,
      help: 'Length of the vectors, where the model can choose it. Another length of the reply is an error.',
    },
  },
  out: {
    vector: { type: 'array', help: 'The vector of the first text.' },
    vectors: { type: 'array', help: 'The vectors of all texts, in their order.' },
    ...usagePins,
  },
  settings: {},
  async run(inputs, context) {
    const { input, dimensions, model } = inputs
    const texts: readonly JsonValue[] = Array.isArray(input) ? input : [input]
    if (texts.length === 0 || texts.length > MOST_TEXTS)
      throw new PinError('input', `must be a text, or a list of 1 to ${MOST_TEXTS} texts`)
    for (const text of texts) {
      if (typeof text !== 'string' || text === '')
        throw new PinError('input', 'must hold texts that are not empty')
      textFor('input', text, LONGEST_TEXT)
    }
    const usage = new ModelUsage(inputs, context)
    const retryAfter = await usage.exceeded()
    if (retryAfter !== undefined) {
      if (context.wired('exceeded')) return { tokens_in: 0, cost: 0, next: 'exceeded' }
      throw budgetExceeded(retryAfter)
    }
    const body = {
      model,
      input: texts,
      encoding_format: 'float',
      ...(dimensions !== undefined && { dimensions }),
    }
    const server = modelServer(inputs, context, (used) => usage.add(used))
    const reply = await usage.timed(context, () => server.send(body))
    await usage.add({ ...usageIn(reply, texts, 0), tokensOut: 0 })
    const vectors = readVectors(reply.data, texts.length, dimensions)
    return { vector: vectors[0], vectors, tokens_in: usage.tokensIn, cost: usage.cost }
  },
})

/** They may come in another order: each says which text it is of. */
function readVectors(
  data: JsonValue | undefined,
  count: number,
  dimensions: number | undefined,
): readonly (readonly number[])[] {
  const refuse = (what: string) => new QuoinError('UNAVAILABLE', `the model server replied with ${what}`)
  const list: readonly JsonValue[] = Array.isArray(data) ? data : []
  if (list.length !== count) throw refuse(`${list.length} vectors for ${count} texts`)
  const vectors = new Map<number, readonly number[]>()
  for (const [at, one] of list.entries()) {
    const { index, embedding } = isJsonObject(one) ? one : {}
    const parts: readonly JsonValue[] = Array.isArray(embedding) ? embedding : []
    const length = dimensions ?? vectors.get(0)?.length ?? parts.length
    if (parts.length > 0 && (parts.length !== length || length > MOST_DIMENSIONS))
      throw refuse(
        `a vector of ${parts.length} numbers${dimensions === undefined ? '' : ` in place of ${dimensions}`}`,
      )
    const vector = parts.filter((part) => typeof part === 'number')
    if (vector.length !== parts.length || vector.length === 0)
      throw refuse('a vector that holds something other than numbers')
    vectors.set(typeof index === 'number' ? index : at, vector)
  }
  return Array.from({ length: count }, (_, at) => {
    const vector = vectors.get(at)
    if (!vector) throw refuse('two vectors for one text')
    return vector
  })
}
